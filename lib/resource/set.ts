/**
 * An immutable, persistent map from resource name to encoded resource.
 *
 * Buckets are interned by content in a {@linkcode ResourceTable}: two sets with the same resources in a bucket share
 * the bucket. So proxies with nearly the same view share nearly all memory and all compressed blocks, and are compared
 * by identity.
 *
 * @module
 */
import type { Block, Form } from "./block.ts";
import { hashByDomain } from "./bucket_hash.ts";
import { bucketOf, type BucketRules, change, fill, findSorted } from "./buckets.ts";
import { blockOf, contentHash, type EncodedResource } from "./encoded.ts";
import { VersionTable } from "./version_table.ts";
import { WeakTable } from "../incremental/weak_table.ts";

/** Whether two lists have the same items in the same order. */
function sameItems(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((item, at) => item === b[at]));
}

function hasCausesOf(one: EncodedResource, other: EncodedResource): boolean {
  return sameItems(one.causes, other.causes) && sameItems(one.parts, other.parts);
}

const nameOf = (resource: EncodedResource): string => resource.name;
const NO_RESOURCES: readonly EncodedResource[] = [];

/** Some resources of a set, sorted by name. Immutable. */
export class ResourceBucket {
  #delta: Block | undefined;
  #sotw: Block | undefined;
  #aliases: ReadonlyMap<string, readonly EncodedResource[]> | undefined;

  /** A bucket with the same bytes, which makes the blocks for both. */
  readonly #model: ResourceBucket | undefined;

  /**
   * @param resources Must not change afterwards.
   * @param digest Hash of the content.
   * @param model A bucket with the same content and other causes. Default: none.
   */
  constructor(readonly resources: readonly EncodedResource[], readonly digest: string, model?: ResourceBucket) {
    this.#model = model === undefined ? undefined : model.#model ?? model;
  }

  /** Whether each of the resources, with equal content, also has equal causes and parts. */
  hasCausesOf(resources: readonly EncodedResource[]): boolean {
    return this.resources.every((one, at) => one === resources[at] || hasCausesOf(one, resources[at]!));
  }

  /** The resource of a name. */
  get(name: string): EncodedResource | undefined {
    return this.resources[findSorted(this.resources, name, nameOf)];
  }

  /** The resources by each of their aliases. Made once. */
  get aliases(): ReadonlyMap<string, readonly EncodedResource[]> {
    return this.#aliases ??= aliasesOf(this.resources);
  }

  /** The bytes of all resources in one form. Made once. */
  block(form: Form): Block {
    if (this.#model !== undefined) return this.#model.block(form);
    if (form === "delta") return this.#delta ??= blockOf(this.resources, form);
    return this.#sotw ??= blockOf(this.resources, form);
  }
}

const NO_ALIASES: ReadonlyMap<string, readonly EncodedResource[]> = new Map();

function aliasesOf(resources: readonly EncodedResource[]): ReadonlyMap<string, readonly EncodedResource[]> {
  let map: Map<string, EncodedResource[]> | undefined;
  for (const resource of resources) {
    for (const alias of resource.aliases) {
      const named = (map ??= new Map()).get(alias);
      if (named === undefined) map.set(alias, [resource]);
      else named.push(resource);
    }
  }
  return map ?? NO_ALIASES;
}

/**
 * Interns buckets by content. One table per server: sets with a common table share memory. Entries are held weakly and
 * vanish with the last set.
 */
export class ResourceTable {
  /** The set without resources. */
  readonly empty: ResourceSet;
  readonly emptyBucket: ResourceBucket = new ResourceBucket([], "");
  readonly #buckets = new WeakTable<string, ResourceBucket>();
  /** The rules for changes of sets in this table. */
  readonly rules: BucketRules<EncodedResource, ResourceBucket> = {
    name: nameOf,
    hash: hashByDomain,
    // A replacement may have the same effect, but is the cause from now on.
    same: (a, b) => a.version === b.version && hasCausesOf(a, b),
    items: (bucket) => bucket.resources,
    sum: () => 0,
    bucket: (resources) => this.bucket(resources),
  };

  constructor() {
    this.empty = new ResourceSet(this, [this.emptyBucket], 0);
  }

  /** The bucket with the resources, which must be sorted by name and must not change afterwards. */
  bucket(resources: readonly EncodedResource[]): ResourceBucket {
    if (resources.length === 0) return this.emptyBucket;
    // Type and name are part of each version's hash, so the versions alone distinguish buckets.
    const digest = resources.length === 1 ? resources[0]!.version : contentHash(resources.map((r) => r.version).join());
    const known = this.#buckets.get(digest);
    if (known !== undefined && known.hasCausesOf(resources)) return known;
    // The bytes are equal, but the causes differ.
    const bucket = new ResourceBucket(resources, digest, known);
    this.#buckets.set(digest, bucket);
    return bucket;
  }

  /** A set of resources. Of several with the same name, the last wins. */
  from(resources: Iterable<EncodedResource>): ResourceSet {
    return this.empty.with(resources);
  }

  /** Buckets alive now (for tests and debug pages). */
  get size(): number {
    return this.#buckets.size;
  }
}

/** Resources by name. Immutable. Made with {@linkcode ResourceTable.from} or {@linkcode ResourceSet.with}. */
export class ResourceSet {
  #digest: string | undefined;
  #versions: VersionTable | undefined;
  #list: readonly EncodedResource[] | undefined;
  #aliased: readonly ResourceBucket[] | undefined;

  constructor(
    readonly table: ResourceTable,
    /** The number of buckets is a power of two. `bucketOf` gives the bucket of a name. */
    readonly buckets: readonly ResourceBucket[],
    /** Number of resources. */
    readonly size: number,
  ) {}

  /** The resource of a name. */
  get(name: string): EncodedResource | undefined {
    return bucketOf(hashByDomain(name), this.buckets).get(name);
  }

  /** Whether the set has a resource of the name. */
  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** The resources with an alias. Costs a lookup in each bucket with aliases. */
  withAlias(alias: string): readonly EncodedResource[] {
    const buckets = this.#aliased ??= this.buckets.filter((bucket) => bucket.aliases.size > 0);
    let found = NO_RESOURCES;
    for (const bucket of buckets) {
      const here = bucket.aliases.get(alias);
      if (here !== undefined) found = found.length === 0 ? here : [...found, ...here];
    }
    return found;
  }

  /** All resources in the order of iteration. Made once. */
  get list(): readonly EncodedResource[] {
    return this.#list ??= this.buckets.flatMap((bucket) => bucket.resources);
  }

  /** Finds names and versions, in the form that clients send, in {@linkcode ResourceSet.list}. Made once. */
  get versions(): VersionTable {
    return this.#versions ??= new VersionTable(this.list);
  }

  /** All resources, bucket by bucket. */
  *[Symbol.iterator](): IterableIterator<EncodedResource> {
    for (const bucket of this.buckets) yield* bucket.resources;
  }

  /** Hash of the content. Sets built in the same way from the same resources have equal hashes. */
  get digest(): string {
    return this.#digest ??= contentHash(this.buckets.map((bucket) => bucket.digest).join());
  }

  /**
   * The set with `upserts` added and `removed` taken out (upserts win; of several with the same name, the last).
   * Returns `this` when no version differs. Costs the touched buckets and an array of bucket pointers.
   */
  with(upserts: Iterable<EncodedResource>, removed: Iterable<string> = []): ResourceSet {
    const { rules } = this.table;
    if (this.size === 0) {
      const resources = new Map<string, EncodedResource>();
      for (const resource of upserts) resources.set(resource.name, resource);
      return resources.size === 0 ? this : this.#made(fill([...resources.values()], rules));
    }
    return this.#made(change(this, upserts, removed, rules));
  }

  #made({ buckets, size }: Pick<ResourceSet, "buckets" | "size">): ResourceSet {
    return buckets === this.buckets ? this : new ResourceSet(this.table, buckets, size);
  }

  /** The set with the resources that `keep` retains of each bucket. Unchanged buckets are shared. */
  filter(keep: (bucket: ResourceBucket, index: number) => ResourceBucket): ResourceSet {
    let size = 0;
    let same = true;
    const buckets = this.buckets.map((bucket, index) => {
      const kept = bucket.resources.length === 0 ? bucket : keep(bucket, index);
      size += kept.resources.length;
      same &&= kept === bucket;
      return kept;
    });
    return same ? this : size === 0 ? this.table.empty : new ResourceSet(this.table, buckets, size);
  }
}
