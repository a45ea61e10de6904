/**
 * Groups of sources with shared results. The sources of a group have the same view, and give the same answers to the
 * property queries of the results.
 *
 * @module
 */
import type { BuildResult } from "./build_result.ts";
import { AskedProperties, type IsChanged, type PropertyQuery } from "./properties.ts";
import { InvalidatedKeys } from "./keys.ts";
import type { PropertiesOf, ReadSource, ViewDifference } from "./read_record.ts";
import type { ResultLook } from "./result_table.ts";

/** The results of a group, kept up to date. */
export interface ResultGroup<S extends ReadSource, C> {
  /** Any source of the group. */
  readonly source: S;
  /** The property queries of the results. */
  readonly asked: AskedProperties<PropertiesOf<S>>;
  /** A builder threw when results were last looked at: the earlier results stay in force. */
  readonly failing: boolean;
  /** Looks up the stale results again. */
  update(change: C): void;
}

/** The common part of all groups: a source, and the property queries of the results. */
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

  /** Begins a look. Every change drops the failed results, so a look meets every result that still fails. */
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
   * The source comes from that group: after an exception of a builder the present result stays in force. False: the
   * group is a model only, because a copy costs less than putting nearly equal results into place again.
   */
  readonly inherits: boolean;
  /**
   * The difference between the view of the model and the view of the source. Results with other answers asked about the
   * difference, or about properties. Absent: the difference is not known, or some results of the model are fallbacks.
   */
  readonly difference?: ViewDifference;
}

/** Makes a group for the first source. */
export type FoundGroup<S extends ReadSource, G> = (source: S, model: GroupModel<G> | undefined) => G;

/** All groups with results of a kind. */
export class GroupPool<S extends ReadSource, C, G extends ResultGroup<S, C>> {
  readonly #found: FoundGroup<S, G>;
  readonly #byView = new Map<object, Set<G>>();
  /** The model for the first group of another view. */
  #latest: G | undefined;
  /** Groups made during a failure, with the group whose results stay in force. */
  readonly #predecessors = new WeakMap<G, WeakRef<G>>();
  /** The property queries that the last update added. */
  #fresh = new Map<G, readonly PropertyQuery<PropertiesOf<S>>[]>();

  constructor(found: FoundGroup<S, G>) {
    this.#found = found;
  }

  /** All groups. */
  *[Symbol.iterator](): IterableIterator<G> {
    for (const groups of this.#byView.values()) yield* groups;
  }

  /**
   * The group of a source. A new group is made if no group fits.
   *
   * @param before The former group of the source: after an exception of a builder the present results stay in force.
   */
  find(source: S, before?: G): G {
    let groups = this.#byView.get(source.view);
    if (!groups) this.#byView.set(source.view, groups = new Set());
    for (const group of groups) {
      // The results of a failing group are for sources of the same former group only.
      const lacks = before !== undefined && group.failing && this.#predecessors.get(group)?.deref() !== before;
      if (!lacks && group.asked.fits(source.properties)) return group;
    }
    const made = this.#make(source, before);
    groups.add(this.#latest = made);
    return made;
  }

  #make(source: S, before: G | undefined): G {
    const made = this.#found(source, this.#nearest(source));
    made.asked.takeFresh(); // the source gave these answers
    if (!made.failing || before === undefined) return made;
    const inheriting = this.#found(source, { like: before, inherits: true });
    inheriting.asked.takeFresh();
    if (inheriting.failing) this.#predecessors.set(inheriting, new WeakRef(before));
    return inheriting;
  }

  /** The model with the fewest results to look up again. */
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

  /** Whether results asked further property queries in the last update, so that sources may belong to other groups. */
  get asksMore(): boolean {
    return this.#fresh.size > 0;
  }

  /**
   * Whether a source still belongs to a group after the last update.
   *
   * @param isChanged The changed facts beside the properties. Absent: none.
   */
  holds(group: G, source: S, isChanged?: IsChanged<PropertiesOf<S>>): boolean {
    const { properties } = source;
    const alive = this.#byView.get(source.view)?.has(group) === true;
    return alive &&
      (this.#fresh.get(group) ?? []).every(({ compute, answer }) => compute(properties) === answer) &&
      (isChanged === undefined || group.asked.fitsAfter(isChanged, properties));
  }

  /** Whether results asked about facts of an accepted kind. */
  dependsOn(isKind: (kind: string) => boolean): boolean {
    for (const { asked } of this) if (asked.dependsOn(isKind)) return true;
    return false;
  }

  /** Drops groups whose source has other answers after a change of facts beside the properties. */
  dropChanged(isChanged: IsChanged<PropertiesOf<S>>): void {
    this.drop(({ asked, source }) => !asked.fitsAfter(isChanged, source.properties));
  }

  /** Drops groups. The sources find other groups. */
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

/** The newest group without a fallback. */
function lastThatHolds<G extends { readonly failing: boolean }>(groups: Iterable<G>): G | undefined {
  let last: G | undefined;
  for (const group of groups) if (!group.failing) last = group;
  return last;
}
