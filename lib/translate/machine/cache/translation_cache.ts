/**
 * Results of builders that read the mesh and a proxy.
 *
 * @module
 */
import { BuildCache, type BuildCacheOptions } from "../../../incremental/build_cache.ts";
import type { BuildResult } from "../../../incremental/build_result.ts";
import type { ReportNote, TranslationNote } from "../../message/notes.ts";
import type { MeshAnswers } from "../../reader/mesh_answers.ts";
import type { Reader } from "../../reader/reader.ts";
import { RecordingReader } from "../../reader/recording_reader.ts";

/** A result, with its read record and the warnings that it gave. */
export type TranslationResult<T, I = unknown> = BuildResult<MeshAnswers, T, TranslationNote, I>;

/** Results of one builder by name, and by input where the name alone does not determine them. */
export type TranslationCache<T, I = undefined> = BuildCache<MeshAnswers, T, TranslationNote, I>;

/**
 * Makes a cache.
 *
 * @param build Builds one result; asks only the reader, beside its input.
 */
export function translationCache<T, I = undefined>(
  build: (read: Reader, name: string, input: I, report: ReportNote) => T,
  options: BuildCacheOptions<T, I>,
): TranslationCache<T, I> {
  return new BuildCache(
    (recorder, name, input, warn) => build(new RecordingReader(recorder), name, input, warn),
    options,
  );
}
