/**
 * A proxy as if no ProxyFilter were for it, whose resources take the place of those rejected because of patches.
 *
 * @module
 */
import type { Proxy } from "./node.ts";

/** The proxy without patches. */
export function unpatched(proxy: Proxy): Proxy {
  return { ...proxy, properties: { ...proxy.properties, patched: undefined } };
}

/** Whether it is one of {@linkcode unpatched}. */
export function isUnpatched({ properties }: Proxy): boolean {
  return properties.patched === undefined;
}

/** Reads properties again; a proxy without patches stays one. */
export function readingAgain(read: (proxy: Proxy) => Proxy): (proxy: Proxy) => Proxy {
  return (proxy) => isUnpatched(proxy) ? unpatched(read(proxy)) : read(proxy);
}
