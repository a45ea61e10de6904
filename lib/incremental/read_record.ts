/**
 * The record of one build's queries and their answers: the key under which its result may be used again.
 *
 * Queries about the source's own properties are kept apart from queries about everything else: the first decide which
 * sources may share results, the second whether a result still holds.
 *
 * @module
 */
import type { InvalidatedKeys } from "./keys.ts";
import type { PropertyAnswers, PropertyTree } from "./properties.ts";

/**
 * The source that builders read from. Answers are identity-stable: the same object (`===`) while nothing behind it
 * changed.
 */
export interface ReadSource<P = unknown> {
  /** The source's own properties. */
  readonly properties: P;
  /** Sources of one view give the same answers to every query that is not about properties. */
  readonly view: object;
  /** The differences that sources of another view see; undefined, and where it is absent: not known. */
  differsFrom?(view: object): ViewDifference | undefined;
}

/** A difference between the sources of two views. */
export interface ViewDifference {
  /** The things about which queries may have different answers. */
  readonly keys: InvalidatedKeys;
  /** Names that one view may have something to build for, and the other not. */
  readonly names: ReadonlySet<string>;
}

/** The properties of a source. */
export type PropertiesOf<S extends ReadSource> = S["properties"];

/** A query about a named thing; a constant wherever it can be, as builds ask many. Compared by identity. */
export interface SourceQuery<S, T> {
  readonly ask: (source: S, name: string) => T;
  /** Kinds of things: a change of one of them, of that name, may change the answer. */
  readonly on: readonly string[];
}

/** Queries about one source, noted while one build runs. */
export class Recorder<S extends ReadSource> {
  readonly source: S;
  #properties: PropertyAnswers<PropertiesOf<S>>;
  /** Query, name and answer, one after the other: there is a record for each of many thousand results. */
  readonly #queries: unknown[] = [];
  /** Where in the list a query about a name is, once there are many. */
  #index: Map<unknown, Map<string, number>> | undefined;
  #more: string[] | undefined;

  constructor(source: S, tree: PropertyTree<PropertiesOf<S>>) {
    this.source = source;
    this.#properties = tree.root;
  }

  /**
   * Asks a query about the source's properties.
   *
   * @param key Names the query and all that `compute` takes from outside the properties.
   * @param compute Gives a primitive, or an object that equal sources share.
   */
  property<T>(key: string, compute: (properties: PropertiesOf<S>) => T): T {
    const known = this.#properties.find(key);
    if (known !== undefined) return known.answer as T;
    const answer = compute(this.source.properties);
    this.#properties = this.#properties.with(key, compute, answer);
    return answer;
  }

  /** Asks another query. */
  ask<T>(query: SourceQuery<S, T>, name: string): T {
    const at = this.#find(query, name);
    if (at >= 0) return this.#queries[at + 2] as T;
    const answer = query.ask(this.source, name);
    const next = this.#queries.push(query, name, answer) - WIDTH;
    if (this.#index) indexed(this.#index, query, name, next);
    return answer;
  }

  /** Notes that the result depends on a thing besides those that were asked about. */
  dependOn(kind: string, name: string): void {
    (this.#more ??= []).push(kind, name);
  }

  /** The record of the queries so far. */
  record(): ReadRecord<S> {
    return new ReadRecord(this.#properties, this.#queries, this.#more, this.source.view);
  }

  #find(query: unknown, name: string): number {
    const queries = this.#queries;
    if (this.#index) return this.#index.get(query)?.get(name) ?? -1;
    for (let at = queries.length - WIDTH; at >= 0; at -= WIDTH) {
      if (queries[at] === query && queries[at + 1] === name) return at;
    }
    if (queries.length >= MANY * WIDTH) {
      this.#index = new Map();
      for (let at = 0; at < queries.length; at += WIDTH) {
        indexed(this.#index, queries[at], queries[at + 1] as string, at);
      }
    }
    return -1;
  }
}

/** Places that one query takes in a list: query, name, answer. */
const WIDTH = 3;

/** Queries from which on they are looked up instead of searched. */
const MANY = 32;

function indexed(index: Map<unknown, Map<string, number>>, query: unknown, name: string, at: number): void {
  const byName = index.get(query);
  if (byName) byName.set(name, at);
  else index.set(query, new Map([[name, at]]));
}

/** All that one build read. Immutable. */
export class ReadRecord<S extends ReadSource> {
  /** Its property queries, with the answers. */
  readonly properties: PropertyAnswers<PropertiesOf<S>>;
  readonly #queries: readonly unknown[];
  /** Kind and name, one after the other. */
  readonly #more: readonly string[] | undefined;
  /** A view whose sources give these answers: the last one that was compared. */
  #view: object;

  constructor(
    properties: PropertyAnswers<PropertiesOf<S>>,
    queries: readonly unknown[],
    more: readonly string[] | undefined,
    view: object,
  ) {
    this.properties = properties;
    this.#queries = queries;
    this.#more = more;
    this.#view = view;
  }

  /**
   * Whether a source answers every query as this record says. A change must have dropped the records that depend on it
   * before this is asked.
   */
  holds(source: S): boolean {
    return this.properties.fits(source.properties) && this.holdsInView(source);
  }

  /** The same, of the queries that are not about properties. */
  holdsInView(source: S): boolean {
    if (source.view === this.#view) return true;
    const queries = this.#queries;
    for (let at = 0; at < queries.length; at += WIDTH) {
      const { ask } = queries[at] as SourceQuery<S, unknown>;
      if (ask(source, queries[at + 1] as string) !== queries[at + 2]) return false;
    }
    this.#view = source.view;
    return true;
  }

  /** Every thing on which an answer depends, as its kind and name; some come more than once. */
  *keys(): IterableIterator<readonly [kind: string, name: string]> {
    const queries = this.#queries;
    for (let at = 0; at < queries.length; at += WIDTH) {
      const { on } = queries[at] as SourceQuery<S, unknown>;
      for (const kind of on) yield [kind, queries[at + 1] as string];
    }
    const more = this.#more ?? [];
    for (let at = 0; at < more.length; at += 2) yield [more[at]!, more[at + 1]!];
  }

  /** Whether an answer depends on one thing. */
  dependsOn(kind: string, name: string): boolean {
    return this.#someKey((otherKind, other) => otherKind === kind && other === name);
  }

  /** Whether an answer depends on something that changed. */
  dependsOnAny(keys: InvalidatedKeys): boolean {
    return !keys.empty && this.#someKey((kind, name) => keys.has(kind, name));
  }

  /** Whether something is true of one of the keys; every proxy's record is asked in each push, so no pairs are made. */
  #someKey(holds: (kind: string, name: string) => boolean): boolean {
    const queries = this.#queries;
    for (let at = 0; at < queries.length; at += WIDTH) {
      const { on } = queries[at] as SourceQuery<S, unknown>;
      for (const kind of on) if (holds(kind, queries[at + 1] as string)) return true;
    }
    const more = this.#more ?? [];
    for (let at = 0; at < more.length; at += 2) if (holds(more[at]!, more[at + 1]!)) return true;
    return false;
  }
}
