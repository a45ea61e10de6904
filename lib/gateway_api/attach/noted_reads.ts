/**
 * Reads that a result was made from, noted so that others can use the result: whoever repeats the reads, and gets the same
 * answers, may take the result.
 *
 * @module
 */
import type { DerivationInput } from "../../config/derive/derivation.ts";
import type { Fact, FactKind } from "../../config/facts/types.ts";
import type { ConfigObject, Kind } from "../../config/types.ts";
import type { ViewReader } from "./types.ts";

/** A read with its answer. */
interface NotedRead {
  readonly again: (read: ViewReader) => unknown;
  readonly answer: unknown;
}

/** Noted reads by name, each once. */
export type NotedReads = Map<string, NotedRead>;

/** Repeats noted reads. @returns whether all answers are the same */
export function isSame(reads: NotedReads, read: ViewReader): boolean {
  return reads.values().every(({ again, answer }) => again(read) === answer);
}

/** Notes the reads of another reader. */
export class NotingReader implements ViewReader {
  readonly #reads: NotedReads;
  readonly #read: ViewReader;

  /** @param reads Gets the notes. */
  constructor(read: ViewReader, reads: NotedReads) {
    this.#read = read;
    this.#reads = reads;
  }

  object<K extends Kind>(kind: K, namespace: string, name: string): ConfigObject<K> | undefined {
    return this.#note(`object/${kind}/${namespace}/${name}`, (read) => read.object(kind, namespace, name));
  }

  objects<K extends Kind>(kind: K, namespace?: string): readonly ConfigObject<K>[] {
    return this.#note(`objects/${kind}/${namespace ?? ""}`, (read) => read.objects(kind, namespace));
  }

  fact<K extends FactKind>(kind: K, namespace: string, name: string): Fact<K> | undefined {
    return this.#note(`fact/${kind}/${namespace}/${name}`, (read) => read.fact(kind, namespace, name));
  }

  members(group: string): readonly DerivationInput[] {
    return this.#note(`members/${group}`, (read) => read.members(group));
  }

  #note<T>(name: string, again: (read: ViewReader) => T): T {
    const answer = again(this.#read);
    if (!this.#reads.has(name)) this.#reads.set(name, { again, answer });
    return answer;
  }
}
