/**
 * Fills the caches before a group asks them.
 *
 * @module
 */
import type { MeshAnswers } from "../reader/mesh_answers.ts";
import type { Caches } from "./caches.ts";

/**
 * Builds what groups of a source's view ask for of each host, host by host: a group that is made afterwards finds it.
 * Each `yield` is a place where others may go on; what a change makes stale meanwhile is dropped like all else.
 */
export function* fillForHosts(caches: Caches, source: MeshAnswers, hosts: Iterable<string>): Generator<void, void> {
  const all = [caches.clusters, caches.assignments, caches.contributions, caches.virtualHosts];
  for (const host of hosts) {
    for (const cache of all) if (cache.enabled && source.exists(host)) cache.get(host, source, undefined);
    yield;
  }
}
