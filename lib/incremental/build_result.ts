/**
 * The result of one build, with its read record.
 *
 * @module
 */
import type { PropertiesOf, ReadRecord, ReadSource } from "./read_record.ts";
import type { PropertyTree } from "./properties.ts";
import { Recorder } from "./read_record.ts";

/**
 * A result.
 *
 * @typeParam S The source that it was read from.
 * @typeParam T The value that was built.
 * @typeParam N A builder's note about it.
 * @typeParam I The input that it was built from, beside the source.
 */
export interface BuildResult<S extends ReadSource, T, N = never, I = unknown> {
  readonly value: T;
  readonly record: ReadRecord<S>;
  readonly input: I;
  /** The builder threw: `value` is the fallback, for sources that have no older result of that name to keep. */
  readonly failed?: true;
  /** The builder's findings; absent: none. */
  readonly notes?: readonly N[];
}

/** Builds one result from the answers of a recorder and from its input, and from nothing else. */
export type Build<S extends ReadSource, T, N, I> = (
  recorder: Recorder<S>,
  name: string,
  input: I,
  note: (note: N) => void,
) => T;

/** The treatment of a builder that throws. */
export interface BuildFailure<T> {
  /** Stands in for the result. */
  readonly fallback: T;
  /** Called with the exception: one bad object never harms another. */
  readonly failed: (name: string, error: unknown) => void;
}

/** Builds one result; a builder that throws gives the fallback. */
export function buildResult<S extends ReadSource, T, N, I>(
  build: Build<S, T, N, I>,
  { source, tree, name, input }: {
    readonly source: S;
    readonly tree: PropertyTree<PropertiesOf<S>>;
    readonly name: string;
    readonly input: I;
  },
  { fallback, failed }: BuildFailure<T>,
): BuildResult<S, T, N, I> {
  const recorder = new Recorder(source, tree);
  const notes: N[] = [];
  try {
    const value = build(recorder, name, input, (note) => void notes.push(note));
    const record = recorder.record();
    return notes.length > 0 ? { value, record, input, notes } : { value, record, input };
  } catch (error) {
    failed(name, error);
    return { value: fallback, record: recorder.record(), input, failed: true };
  }
}
