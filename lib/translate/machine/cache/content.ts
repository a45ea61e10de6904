/**
 * The encoded resources in the caches, by type and with sizes, for pages.
 *
 * @module
 */
import type { Caches } from "./caches.ts";

/** The resources of a type. */
export interface CachedType {
  /** Each name once, for all kept variants of the resource. */
  readonly names: Set<string>;
  /** Bytes of the messages of all variants. */
  bytes: number;
}

/** The steps that collect the kept resources, by type URL. The cost is a look at each resource. */
export function* cachedTypes(caches: Caches): Generator<void, Map<string, CachedType>> {
  const types = new Map<string, CachedType>();
  for (const { row, cache } of caches.all) {
    if (row.resources === undefined) continue;
    for (const value of cache.values()) {
      for (const { typeUrl, name, value: bytes } of row.resources(value)) {
        const type = types.getOrInsertComputed(typeUrl, () => ({ names: new Set<string>(), bytes: 0 }));
        type.names.add(name);
        type.bytes += bytes.length;
      }
      yield;
    }
  }
  return types;
}
