/**
 * Log levels of the proxy: the values of `--proxyLogLevel` and `--proxyComponentLogLevel`.
 *
 * @module
 */

/** Levels of the proxy's own log. */
export const proxyLogLevels = ["trace", "debug", "info", "warning", "error", "critical", "off"] as const;

const KNOWN: ReadonlySet<string> = new Set(proxyLogLevels);

/** Log levels of the proxy and of proxy components. */
export interface ProxyLogLevels {
  /** Undefined when the text names no level. */
  readonly level: string | undefined;
  readonly components: Readonly<Record<string, string>>;
  /** A line for each invalid part: the part and the expectation. */
  readonly problems: readonly string[];
}

/**
 * Reads levels: `info`, `info,upstream:debug`.
 *
 * @param components Whether each part must name a component. A level alone is then invalid.
 */
export function readProxyLevels(text: string, components = false): ProxyLogLevels {
  const found: Record<string, string> = {};
  const problems: string[] = [];
  let level: string | undefined;
  for (const part of text.split(",").filter((one) => one !== "")) {
    const [component, own] = part.includes(":") ? part.split(":", 2) : [undefined, part];
    if (own === undefined || !KNOWN.has(own) || component === "" || (component === undefined && components)) {
      problems.push(`got ${JSON.stringify(part.slice(0, 120))}, expected ${expected(components)}`);
    } else if (component === undefined) level = own;
    else found[component] = own;
  }
  return { level, components: found, problems };
}

function expected(components: boolean): string {
  const pair = `component:level with level one of ${proxyLogLevels.join(", ")}`;
  return components ? pair : `a level or ${pair}`;
}
