/**
 * Results of builders that read the mesh and a proxy.
 *
 * @module
 */
import { BuildCache, type BuildCacheOptions } from "../../../incremental/build_cache.ts";
import type { BuildResult } from "../../../incremental/build_result.ts";
import type { TranslationNote } from "../../message/notes.ts";
import type { MeshAnswers } from "../../reader/mesh_answers.ts";
import { RecordingReader } from "../../reader/recording_reader.ts";
import type { ResultBuilder } from "../results/row.ts";

/** A result, with its read record and the warnings that it gave. */
export type TranslationResult<T, I = unknown> = BuildResult<MeshAnswers, T, TranslationNote, I>;

/** Results of one builder by name, and by input where the name alone does not determine them. */
export type TranslationCache<T, I = undefined> = BuildCache<MeshAnswers, T, TranslationNote, I>;

/** Makes a cache. */
export function translationCache<T, I = undefined>(
  build: ResultBuilder<T, I>,
  options: BuildCacheOptions<T, I>,
): TranslationCache<T, I> {
  return new BuildCache(
    (recorder, name, input, warn) => build(new RecordingReader(recorder), name, input, warn),
    options,
  );
}

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
