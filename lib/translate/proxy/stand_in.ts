/**
 * A proxy as if some ProxyFilters did not exist. Resources for this stand-in replace resources that the proxy rejects.
 *
 * @module
 */
import type { Proxy } from "./node.ts";

/**
 * The proxy without the patches of some ProxyFilters.
 *
 * @param without Keys of the ProxyFilters. Undefined: all.
 */
export function standInFor(proxy: Proxy, without: ReadonlySet<string> | undefined): Proxy {
  const { patched } = proxy.properties;
  return {
    ...proxy,
    properties: { ...proxy.properties, patched: patched && without && { ...patched, without } },
  };
}

/** Whether a proxy was made by {@linkcode standInFor}. */
export function isStandIn({ properties: { patched } }: Proxy): boolean {
  return patched === undefined || patched.without !== undefined;
}

/** Wraps a function that reads properties again, so that a stand-in remains a stand-in. */
export function readingAgain(read: (proxy: Proxy) => Proxy): (proxy: Proxy) => Proxy {
  return (proxy) => isStandIn(proxy) ? standInFor(read(proxy), proxy.properties.patched?.without) : read(proxy);
}
