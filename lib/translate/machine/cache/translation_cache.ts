/**
 * Results of builders with a reader of the mesh and a proxy.
 *
 * @module
 */
import { BuildCache, type BuildCacheOptions } from "../../../incremental/build_cache.ts";
import type { BuildResult } from "../../../incremental/build_result.ts";
import type { TranslationNote } from "../../message/notes.ts";
import type { ScopeReader } from "../../reader/scope_reader.ts";
import { RecordingReader } from "../../reader/recording_reader.ts";
import type { ResultBuilder } from "../results/row.ts";

/** A result with its read record and warnings. */
export type TranslationResult<T, I = unknown> = BuildResult<ScopeReader, T, TranslationNote, I>;

/** Results of a builder by name, and by input if results of a name have several inputs. */
export type TranslationCache<T, I = undefined> = BuildCache<ScopeReader, T, TranslationNote, I>;

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
 * Builds results host by host, before a group of the source's view asks the caches for them. At each `yield` other work
 * may go on. A change meanwhile drops stale results as usual.
 */
export function* fillForHosts(
  caches: readonly TranslationCache<unknown>[],
  source: ScopeReader,
  hosts: Iterable<string>,
): Generator<void, void> {
  for (const host of hosts) {
    for (const cache of caches) if (cache.enabled && source.exists(host)) cache.get(host, source, undefined);
    yield;
  }
}
