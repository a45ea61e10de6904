/**
 * Groups of sources that share results: those of one view that answer everything alike that the results asked about
 * their properties.
 *
 * @module
 */
import type { BuildResult } from "./build_result.ts";
import { AskedProperties, type PropertyQuery } from "./properties.ts";
import { InvalidatedKeys } from "./keys.ts";
import type { PropertiesOf, ReadSource, ViewDifference } from "./read_record.ts";
import type { ResultLook } from "./result_table.ts";

/** The results of one group, kept up to date. */
export interface ResultGroup<S extends ReadSource, C> {
  /** One source of the group. */
  readonly source: S;
  /** The property queries of the results. */
  readonly asked: AskedProperties<PropertiesOf<S>>;
  /** A builder threw when results were last looked at: the earlier results stay in force. */
  readonly failing: boolean;
  /** Looks again at the results that a change affects. */
  update(change: C): void;
}

/**
 * The common part of groups of all kinds of results: a source, and the queries and keys of the results, gathered while
 * these are looked at.
 */
export class GroupBase<S extends ReadSource> {
  readonly source: S;
  readonly asked = new AskedProperties<PropertiesOf<S>>();
  #failing = false;

  constructor(source: S) {
    this.source = source;
  }

  /** A builder threw in the last look. */
  get failing(): boolean {
    return this.#failing;
  }

  /** Begins a look. Results that failed are dropped with every change, so each look meets all that still do. */
  protected look(exists: (name: string) => boolean, keeps = true): ResultLook<S> {
    this.#failing = false;
    return { source: this.source, exists, keeps, onResult: (result) => this.#met(result) };
  }

  #met({ record, failed }: BuildResult<S, unknown, unknown, unknown>): void {
    this.asked.add(record.properties);
    this.#failing ||= failed === true;
  }
}

/** A group to begin as a copy of. */
export interface GroupModel<G> {
  readonly like: G;
  /**
   * The source comes from there: where a builder throws, its present result stays in force. False: it is only much
   * cheaper to find that a result is the same than to put it into place, since most groups are nearly alike.
   */
  readonly inherits: boolean;
  /**
   * The differences between its view and the source's: only results that asked about these or about properties can
   * differ. Absent: that is not known, or some of its results are fallbacks.
   */
  readonly difference?: ViewDifference;
}

/** Makes a group for a source, the first of that group. */
export type FoundGroup<S extends ReadSource, G> = (source: S, model: GroupModel<G> | undefined) => G;

/** All groups that share results of one kind. */
export class GroupPool<S extends ReadSource, C, G extends ResultGroup<S, C>> {
  readonly #found: FoundGroup<S, G>;
  readonly #byView = new Map<object, Set<G>>();
  /** The group that the first group of another view begins as a copy of. */
  #latest: G | undefined;
  /** Groups that were made while builders threw, with the group whose results they keep. */
  readonly #predecessors = new WeakMap<G, WeakRef<G>>();
  /** The queries that came with the last update. */
  #fresh = new Map<G, readonly PropertyQuery<PropertiesOf<S>>[]>();

  constructor(found: FoundGroup<S, G>) {
    this.#found = found;
  }

  /** All groups. */
  *[Symbol.iterator](): IterableIterator<G> {
    for (const groups of this.#byView.values()) yield* groups;
  }

  /**
   * The group of a source; made where it fits none.
   *
   * @param before The group that the source leaves: where a builder throws, the present result of the source stays in
   * force.
   */
  find(source: S, before?: G): G {
    let groups = this.#byView.get(source.view);
    if (!groups) this.#byView.set(source.view, groups = new Set());
    for (const group of groups) {
      // A result that cannot be made now is there only for sources that come from the same group.
      const lacks = before !== undefined && group.failing && this.#predecessors.get(group)?.deref() !== before;
      if (!lacks && group.asked.fits(source.properties)) return group;
    }
    const made = this.#make(source, before);
    groups.add(this.#latest = made);
    return made;
  }

  #make(source: S, before: G | undefined): G {
    const made = this.#found(source, this.#nearest(source));
    made.asked.takeFresh(); // the source answers them all
    if (!made.failing || before === undefined) return made;
    const inheriting = this.#found(source, { like: before, inherits: true });
    inheriting.asked.takeFresh();
    if (inheriting.failing) this.#predecessors.set(inheriting, new WeakRef(before));
    return inheriting;
  }

  /** The group of which the least has to be looked at again, to begin as a copy of. */
  #nearest(source: S): GroupModel<G> | undefined {
    let nearest: GroupModel<G> | undefined;
    for (const [view, groups] of this.#byView) {
      const like = lastThatHolds(groups);
      const difference = like && (view === source.view ? SAME_VIEW : source.differsFrom?.(view));
      if (!difference || (nearest && difference.keys.size >= nearest.difference!.keys.size)) continue;
      nearest = { like, inherits: false, difference };
    }
    return nearest ?? (this.#latest && { like: this.#latest, inherits: false });
  }

  /** Brings every group up to date. */
  update(change: C): void {
    this.#fresh = new Map();
    for (const group of this) {
      group.update(change);
      const fresh = group.asked.takeFresh();
      if (fresh.length > 0) this.#fresh.set(group, fresh);
    }
  }

  /** Whether groups came to ask more with the last update, so that sources may belong elsewhere. */
  get asksMore(): boolean {
    return this.#fresh.size > 0;
  }

  /** Whether a source of a group still belongs there after the last update. */
  holds(group: G, source: S): boolean {
    const alive = this.#byView.get(source.view)?.has(group) === true;
    return alive &&
      (this.#fresh.get(group) ?? []).every(({ compute, answer }) => compute(source.properties) === answer);
  }

  /** Drops some groups; their sources find others. */
  drop(isDropped: (group: G) => boolean): void {
    for (const [view, groups] of this.#byView) {
      for (const group of groups) {
        if (!isDropped(group)) continue;
        groups.delete(group);
        if (this.#latest === group) this.#latest = undefined;
      }
      if (groups.size === 0) this.#byView.delete(view);
    }
  }
}

const SAME_VIEW: ViewDifference = { keys: new InvalidatedKeys(), names: new Set() };

/** The newest group without a fallback among its results. */
function lastThatHolds<G extends { readonly failing: boolean }>(groups: Iterable<G>): G | undefined {
  let last: G | undefined;
  for (const group of groups) if (!group.failing) last = group;
  return last;
}
