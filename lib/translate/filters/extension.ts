/**
 * The extensions in a proxy's build. A filter missing from the build is never sent to the proxy.
 *
 * @module
 */
import type { Reader } from "../reader/reader.ts";

/**
 * Whether the proxy's build has an extension (`envoy.filters.http.fault`), by the list in the proxy's first request. A
 * proxy without a list counts as having every extension of stock Envoy.
 */
export function hasExtension(read: Reader, name: string): boolean {
  return read.derived(`hasExtension/${name}`, ({ extensions }) => extensions === undefined || extensions.has(name));
}

/** Whether the proxy lists an extension that stock Envoy lacks. False without a list. */
export function listsExtension(read: Reader, name: string): boolean {
  return read.derived(`listsExtension/${name}`, ({ extensions }) => extensions?.has(name) === true);
}
