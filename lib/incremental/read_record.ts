/**
 * The record of a build's queries and answers, by which the result may be used again.
 *
 * Property queries are kept apart from all other queries. Answers to property queries decide which sources may share
 * results; the other answers decide whether a result still holds.
 *
 * @module
 */
import type { InvalidatedKeys } from "./keys.ts";
import type { PropertyAnswers, PropertyTree } from "./properties.ts";

/**
 * The source of builders. Answers are identity-stable: the same object (`===`) until something behind the answer
 * changes.
 */
export interface ReadSource<P = unknown> {
  /** The source's own properties. */
  readonly properties: P;
  /** Sources of the same view give the same answers to all queries except property queries. */
  readonly view: object;
  /** The differences from another view. Undefined or absent: not known. */
  differsFrom?(view: object): ViewDifference | undefined;
}

/** A difference between the sources of two views. */
export interface ViewDifference {
  /** Things whose answers may differ. */
  readonly keys: InvalidatedKeys;
  /** Names with something to build in only a part of the views. */
  readonly names: ReadonlySet<string>;
}

/** The properties of a source. */
export type PropertiesOf<S extends ReadSource> = S["properties"];

/** A query about a named thing, compared by identity. Use constants: builds ask many queries. */
export interface SourceQuery<S, T> {
  readonly ask: (source: S, name: string) => T;
  /** Kinds of things. A change of a thing of the name may change the answer. */
  readonly on: readonly string[];
}

/**
 * A query about the source's own properties, and about facts beside the properties. The answer counts as a property:
 * sources with the same answer may share results.
 */
export interface OwnQuery<S extends ReadSource, T> {
  readonly name: string;
  /**
   * Kind of fact: a changed fact about the source may change the answer. Undefined: the answer depends on properties
   * only.
   */
  readonly on: string | undefined;
  /** Gives a primitive, or an object shared by equal sources. */
  ask(source: S, properties: PropertiesOf<S>, part: string): T;
}

/** Records the queries of a build. */
export class Recorder<S extends ReadSource> {
  readonly source: S;
  #properties: PropertyAnswers<PropertiesOf<S>>;
  /** Query, name and answer, in turn: there is a record for each of many thousand results. */
  readonly #queries: unknown[] = [];
  /** Where in the list a query about a name is, once there are many. */
  #index: Map<unknown, Map<string, number>> | undefined;

  constructor(source: S, tree: PropertyTree<PropertiesOf<S>>) {
    this.source = source;
    this.#properties = tree.root;
  }

  /**
   * Asks a property query.
   *
   * @param key Names the query, and all other inputs of `compute`.
   * @param compute Gives a primitive, or an object shared by equal sources.
   */
  property<T>(key: string, compute: (properties: PropertiesOf<S>) => T): T {
    const known = this.#properties.find(key);
    if (known !== undefined) return known.answer as T;
    const answer = compute(this.source.properties);
    this.#properties = this.#properties.with(key, compute, answer);
    return answer;
  }

  /**
   * Asks a query about the source itself.
   *
   * @param part Part of the answer. Empty: the whole answer.
   */
  askOwn<T>(query: OwnQuery<S, T>, part = ""): T {
    const key = part === "" ? query.name : `${query.name}/${part}`;
    const known = this.#properties.find(key);
    if (known !== undefined) return known.answer as T;
    const { source } = this;
    const compute = (properties: PropertiesOf<S>) => query.ask(source, properties, part);
    const answer = compute(source.properties);
    this.#properties = this.#properties.with(key, compute, answer, query.on);
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

  /** The record of the queries so far. */
  record(): ReadRecord<S> {
    return new ReadRecord(this.#properties, this.#queries, this.source.view);
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

/** Places of a query in a list: query, name, answer. */
const WIDTH = 3;

/** With more queries, an index replaces the search. */
const MANY = 32;

function indexed(index: Map<unknown, Map<string, number>>, query: unknown, name: string, at: number): void {
  const byName = index.get(query);
  if (byName) byName.set(name, at);
  else index.set(query, new Map([[name, at]]));
}

/** The queries and answers of a build. Immutable. */
export class ReadRecord<S extends ReadSource> {
  /** The property queries, with the answers. */
  readonly properties: PropertyAnswers<PropertiesOf<S>>;
  readonly #queries: readonly unknown[];
  /** A view with these answers: the view of the last comparison. */
  #view: object;

  constructor(
    properties: PropertyAnswers<PropertiesOf<S>>,
    queries: readonly unknown[],
    view: object,
  ) {
    this.properties = properties;
    this.#queries = queries;
    this.#view = view;
  }

  /** Whether a source gives the recorded answers to all queries. Call it after the stale records are dropped. */
  holds(source: S): boolean {
    return this.properties.fits(source.properties) && this.holdsInView(source);
  }

  /** As `holds`, without the property queries. */
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

  /** The dependencies, as kind and name. A dependency may come several times. */
  *keys(): IterableIterator<readonly [kind: string, name: string]> {
    const queries = this.#queries;
    for (let at = 0; at < queries.length; at += WIDTH) {
      const { on } = queries[at] as SourceQuery<S, unknown>;
      for (const kind of on) yield [kind, queries[at + 1] as string];
    }
  }

  /** Whether an answer depends on a thing. */
  dependsOn(kind: string, name: string): boolean {
    return this.#someKey((otherKind, other) => otherKind === kind && other === name);
  }

  /** Whether an answer depends on a changed thing. */
  dependsOnAny(keys: InvalidatedKeys): boolean {
    return !keys.empty && this.#someKey((kind, name) => keys.has(kind, name));
  }

  /** Whether a dependency passes a test. Every push asks the records of all proxies, so no pairs are made. */
  #someKey(holds: (kind: string, name: string) => boolean): boolean {
    const queries = this.#queries;
    for (let at = 0; at < queries.length; at += WIDTH) {
      const { on } = queries[at] as SourceQuery<S, unknown>;
      for (const kind of on) if (holds(kind, queries[at + 1] as string)) return true;
    }
    return false;
  }
}
