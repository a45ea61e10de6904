/**
 * Host names of listeners and routes: exact names, names with `*.` in place of their first labels, and `*` for any name.
 *
 * @module
 */

/** The name that stands for any host. */
export const ANY_HOST = "*";

/** Whether every host of `narrow` is a host of `wide`. `*.example.com` has hosts of any depth, but not `example.com`. */
export function coversHost(wide: string, narrow: string): boolean {
  if (wide === ANY_HOST || wide === narrow) return true;
  return wide.startsWith("*.") && narrow !== ANY_HOST && narrow.endsWith(wide.slice(1));
}

/** The names that cover a host, without the host's own name: the most specific first, `*` last. */
export function* namesOver(host: string): Iterable<string> {
  let dot = host.indexOf(".", host.startsWith("*.") ? 2 : 0);
  for (; dot >= 0; dot = host.indexOf(".", dot + 1)) yield `*${host.slice(dot)}`;
  if (host !== ANY_HOST) yield ANY_HOST;
}

/** The hosts of both names; undefined: none. */
function commonHost(a: string, b: string): string | undefined {
  if (coversHost(a, b)) return b;
  return coversHost(b, a) ? a : undefined;
}

/**
 * The hosts that a route and a listener share, in the route's order, each once.
 *
 * @param ofRoute Absent or empty: any host.
 * @param ofListener Absent or empty: any host.
 */
export function commonHosts(ofRoute: readonly string[] | undefined, ofListener: string | undefined): string[] {
  const wanted = ofRoute?.length ? ofRoute : [ANY_HOST];
  const common = wanted.map((one) => commonHost(one, ofListener || ANY_HOST)).filter((one) => one !== undefined);
  return [...new Set(common)];
}
