/**
 * Immutable sets of resource names, for the subscriptions of clients. A set with one more name shares all buckets but
 * one with the previous set, so a client that subscribes name by name costs one bucket per name.
 *
 * A set of names remembers its selection from a set of resources, bucket by bucket. So a change of the resources costs
 * only the changed buckets, and all clients with the same subscription share a selection.
 *
 * @module
 */
import { hashName } from "./bucket_hash.ts";
import { type Bucketed, bucketOf, findSorted } from "./buckets.ts";
import type { EncodedResource } from "./encoded.ts";
import type { ResourceBucket, ResourceSet } from "./set.ts";

/** Memory per name beside its characters: a pointer, the string header, a share of the buckets. */
const BYTES_A_NAME = 64;

const itself = (name: string): string => name;

/** Some names of a set, sorted. Immutable. */
export class NameBucket {
  /** UTF-16 units of all names. */
  readonly length: number;

  /**
   * @param names Must not change afterwards.
   * @param hash Sum of the names' hashes: different for different content, nearly always.
   */
  constructor(readonly names: readonly string[], readonly hash: number) {
    this.length = names.reduce((sum, name) => sum + name.length, 0);
  }

  /** Whether another bucket holds the same names. */
  equals(other: NameBucket): boolean {
    return this.names.length === other.names.length && this.names.every((name, i) => name === other.names[i]);
  }
}

/**
 * An immutable set of names. Made by {@linkcode InternedNames}: equal content from one table is usually the same
 * object.
 */
export class NameSet implements Bucketed<NameBucket> {
  #selected: WeakMap<ResourceSet, ResourceSet> | undefined;
  #selectedBuckets: WeakMap<ResourceBucket, ResourceBucket> | undefined;
  #excludedBuckets: WeakMap<ResourceBucket, ResourceBucket> | undefined;
  #bytes: number | undefined;

  constructor(
    readonly buckets: readonly NameBucket[],
    /** Number of names. */
    readonly size: number,
  ) {}

  /** Approximate memory of the names, shared with other sets of the same names. */
  get bytes(): number {
    return this.#bytes ??= this.buckets.reduce((sum, { length }) => sum + length, this.size * BYTES_A_NAME);
  }

  /** Whether the name is in the set. */
  has(name: string): boolean {
    return this.size > 0 && findSorted(bucketOf(hashName(name), this.buckets).names, name, itself) >= 0;
  }

  /** All names, bucket by bucket. */
  *[Symbol.iterator](): IterableIterator<string> {
    for (const bucket of this.buckets) yield* bucket.names;
  }

  /** Whether another set holds the same names, in the same buckets. */
  equals(other: NameSet): boolean {
    return this.buckets.length === other.buckets.length && this.buckets.every((one, i) => one === other.buckets[i]);
  }

  /** The resources of `set` with a name or alias in this set. */
  select(set: ResourceSet): ResourceSet {
    if (this.size === 0) return set.table.empty;
    const known = this.#selected?.get(set);
    if (known !== undefined) return known;
    const few = this.size < set.buckets.length;
    return this.#remember(set, few ? set.table.from(this.#named(set)) : this.#selectAll(set));
  }

  /**
   * The same as {@linkcode NameSet.select}, with the help of a set of names that differs only in `changed`. Costs only
   * these names if the selection of `near` is known.
   */
  selectNear(set: ResourceSet, near: NameSet, changed: Iterable<string>): ResourceSet {
    const known = this.#selected?.get(set);
    if (known !== undefined) return known;
    const start = near.#selected?.get(set);
    if (start === undefined || this.size === 0) return this.select(set);
    const put: EncodedResource[] = [];
    const removed: string[] = [];
    for (const name of changed) {
      for (const resource of candidates(set, name)) {
        if (this.#wants(resource)) put.push(resource);
        else removed.push(resource.name);
      }
    }
    return this.#remember(set, start.with(put, removed));
  }

  /** The resources of `set` without a name or alias in this set. */
  exclude(set: ResourceSet): ResourceSet {
    if (this.size === 0 || set.size === 0) return set;
    if (this.size < set.buckets.length) return set.with([], this.#named(set).map((resource) => resource.name));
    const remembered = this.#excludedBuckets ??= new WeakMap();
    return set.filter((bucket) => narrow(set, bucket, remembered, (resource) => !this.#wants(resource)));
  }

  #remember(set: ResourceSet, selection: ResourceSet): ResourceSet {
    (this.#selected ??= new WeakMap()).set(set, selection);
    return selection;
  }

  /** The resources with a name or alias in this set, found name by name. */
  #named(set: ResourceSet): EncodedResource[] {
    const found: EncodedResource[] = [];
    for (const name of this) found.push(...candidates(set, name));
    return found;
  }

  #wants(resource: EncodedResource): boolean {
    return this.has(resource.name) || resource.aliases.some((alias) => this.has(alias));
  }

  #selectAll(set: ResourceSet): ResourceSet {
    const remembered = this.#selectedBuckets ??= new WeakMap();
    const aligned = this.buckets.length === set.buckets.length;
    return set.filter((bucket, i) => {
      // Most clients subscribe to everything. If the numbers of buckets are equal, equal names are at equal places.
      if (aligned && namesAll(this.buckets[i]!, bucket)) return bucket;
      return narrow(set, bucket, remembered, (resource) => this.#wants(resource));
    });
  }
}

function namesAll({ names }: NameBucket, { resources }: ResourceBucket): boolean {
  return names.length === resources.length && names.every((name, i) => name === resources[i]!.name);
}

/** The resources that a name may select. */
function candidates(set: ResourceSet, name: string): readonly EncodedResource[] {
  const aliased = set.withAlias(name);
  const named = set.get(name);
  return named === undefined ? aliased : [named, ...aliased];
}

function narrow(
  set: ResourceSet,
  bucket: ResourceBucket,
  remembered: WeakMap<ResourceBucket, ResourceBucket>,
  keep: (resource: EncodedResource) => boolean,
): ResourceBucket {
  let kept = remembered.get(bucket);
  if (kept === undefined) {
    const resources = bucket.resources.filter(keep);
    kept = resources.length === bucket.resources.length ? bucket : set.table.bucket(resources);
    remembered.set(bucket, kept);
  }
  return kept;
}
