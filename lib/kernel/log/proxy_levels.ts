/**
 * Levels of a proxy's log, as `--proxyLogLevel` and `--proxyComponentLogLevel` have them.
 *
 * @module
 */

/** Levels of the proxy's own log. */
export const proxyLogLevels = ["trace", "debug", "info", "warning", "error", "critical", "off"] as const;

const KNOWN: ReadonlySet<string> = new Set(proxyLogLevels);

/** Level of the proxy's log, and of components of it. */
export interface ProxyLogLevels {
  /** Undefined: the text names none. */
  readonly level: string | undefined;
  readonly components: Readonly<Record<string, string>>;
  /** What is none, a line each: the part, and what was expected. */
  readonly problems: readonly string[];
}

/**
 * Reads levels: `info`, `info,upstream:debug`.
 *
 * @param components Each part names a component: a level alone is none.
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
