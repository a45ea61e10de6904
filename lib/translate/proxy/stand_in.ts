/**
 * A proxy as if some ProxyFilters were not there, whose resources take the place of those that the proxy rejects.
 *
 * @module
 */
import type { Proxy } from "./node.ts";

/** The proxy without the patches of some ProxyFilters. @param without Their keys; undefined: all of them */
export function standInFor(proxy: Proxy, without: ReadonlySet<string> | undefined): Proxy {
  const { patched } = proxy.properties;
  return {
    ...proxy,
    properties: { ...proxy.properties, patched: patched && without && { ...patched, without } },
  };
}

/** Whether it is one of {@linkcode standInFor}. */
export function isStandIn({ properties: { patched } }: Proxy): boolean {
  return patched === undefined || patched.without !== undefined;
}

/** Reads properties again; a stand-in stays one. */
export function readingAgain(read: (proxy: Proxy) => Proxy): (proxy: Proxy) => Proxy {
  return (proxy) => isStandIn(proxy) ? standInFor(read(proxy), proxy.properties.patched?.without) : read(proxy);
}
