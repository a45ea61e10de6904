/**
 * Fills the caches before a group asks them.
 *
 * @module
 */
import type { MeshAnswers } from "../../reader/mesh_answers.ts";
import type { TranslationCache } from "./translation_cache.ts";

/**
 * Builds the results that groups of a source's view ask some caches for, host by host: a group that is made afterwards
 * finds it. Each `yield` is a place where others may go on; a result that a change makes stale meanwhile is dropped
 * like any other.
 */
export function* fillForHosts(
  caches: readonly TranslationCache<unknown>[],
  source: MeshAnswers,
  hosts: Iterable<string>,
): Generator<void, void> {
  for (const host of hosts) {
    for (const cache of caches) if (cache.enabled && source.exists(host)) cache.get(host, source, undefined);
    yield;
  }
}
