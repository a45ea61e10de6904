/**
 * The filters that a proxy can run: one that its build lacks is never sent to it.
 *
 * @module
 */
import type { Reader } from "../reader/reader.ts";

/** Whether the proxy's build has that extension (`envoy.filters.http.fault`), as its first request listed. */
export function hasExtension(read: Reader, name: string): boolean {
  return read.derived(`hasExtension/${name}`, ({ extensions }) => extensions === undefined || extensions.has(name));
}

/** The same for one that stock Envoy lacks: a proxy that lists nothing has it not. */
export function listsExtension(read: Reader, name: string): boolean {
  return read.derived(`listsExtension/${name}`, ({ extensions }) => extensions?.has(name) === true);
}
