/**
 * The encoded resources that the caches keep, for pages: by type, with their sizes.
 *
 * @module
 */
import type { Caches } from "./caches.ts";

/** The resources of one type. */
export interface CachedType {
  /** Each once, however many variants of it are kept. */
  readonly names: Set<string>;
  /** Bytes of the messages of all variants. */
  bytes: number;
}

/** The steps that collect the kept resources, by type URL. They cost a look at each resource. */
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
