/**
 * The result of a build, with the read record.
 *
 * @module
 */
import type { PropertiesOf, ReadRecord, ReadSource } from "./read_record.ts";
import type { PropertyTree } from "./properties.ts";
import { Recorder } from "./read_record.ts";

/**
 * A result.
 *
 * @typeParam S The source of the answers.
 * @typeParam T The built value.
 * @typeParam N A note of the builder.
 * @typeParam I The input beside the source.
 */
export interface BuildResult<S extends ReadSource, T, N = never, I = unknown> {
  readonly value: T;
  readonly record: ReadRecord<S>;
  readonly input: I;
  /** The builder threw. `value` is the fallback, for sources without an older result of the name. */
  readonly failed?: true;
  /** The builder's findings; absent: none. */
  readonly notes?: readonly N[];
}

/** Builds a result from nothing but the answers of a recorder and the input. */
export type Build<S extends ReadSource, T, N, I> = (
  recorder: Recorder<S>,
  name: string,
  input: I,
  note: (note: N) => void,
) => T;

/** What happens when a builder throws. */
export interface BuildFailure<T> {
  /** Stands in for the result. */
  readonly fallback: T;
  /** Called with the exception. Other builds go on. */
  readonly failed: (name: string, error: unknown) => void;
}

/** Builds a result, or gives the fallback after an exception. */
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
