/**
 * The encoded resources that the caches keep, for pages: by type, with their sizes.
 *
 * @module
 */
import type { EncodedResource } from "../../../resource/encoded.ts";
import { NAME_TABLE_TYPE_URL } from "../../name_table/encode.ts";
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
  const add = (typeUrl: string, name: string, bytes: number) => {
    let type = types.get(typeUrl);
    if (type === undefined) types.set(typeUrl, type = { names: new Set(), bytes: 0 });
    type.names.add(name);
    type.bytes += bytes;
  };
  for (const { typeUrl, name, value } of cachedResources(caches)) {
    add(typeUrl, name, value.length);
    yield;
  }
  // Entries of tables of names: a table is made of them.
  for (const names of caches.names.values()) {
    for (const { host, bytes } of names) add(NAME_TABLE_TYPE_URL, host, bytes.length);
    yield;
  }
  return types;
}

function* cachedResources(caches: Caches): Iterable<EncodedResource> {
  const { clusters, assignments, passedClusters, passedAssignments } = caches;
  for (const cache of [clusters, passedClusters, assignments, passedAssignments, ...caches.library.ofHosts]) {
    for (const resources of cache.values()) yield* resources;
  }
  for (const entries of caches.virtualHosts.values()) for (const { resource } of entries) if (resource) yield resource;
  for (const route of caches.bareRoutes.values()) if (route) yield route.resource;
  for (const { listener } of caches.listeners.values()) if (listener) yield listener;
  for (const { configs } of caches.extensions.values()) yield* configs;
  for (const { added, ...own } of caches.base.values()) {
    for (const set of [...Object.values(own), ...Object.values(added)]) yield* set;
  }
  for (const sets of caches.inbound.values()) for (const set of Object.values(sets)) yield* set;
  for (const planned of caches.gatewayVirtualHosts.values()) if (planned?.resource) yield planned.resource;
}
