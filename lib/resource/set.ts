/**
 * An immutable, persistent map from resource name to encoded resource.
 *
 * Resources lie in buckets by the hash of their name, about {@linkcode BUCKET_TARGET} a bucket. A change copies only
 * the buckets that it touches. Buckets are interned by content in a {@linkcode ResourceTable}: two sets that hold the
 * same resources in a bucket hold the same bucket, so proxies that see nearly the same share nearly all memory, all
 * compressed blocks, and are compared by identity.
 *
 * @module
 */
import { Block, type Form } from "./block.ts";
import { contentHash, type EncodedResource } from "./encoded.ts";
import { computeDiff, type Diff } from "./diff.ts";
import { VersionTable } from "./version_table.ts";

/**
 * Resources a bucket, at least on average. Larger blocks compress better (64 are 8% smaller than 32, 128 are 14%
 * smaller: `tests/bench/wire_bench.ts --levels`), smaller ones are shared more by proxies that see a little less, and
 * cost less to make again.
 */
export const BUCKET_TARGET = 64;

/** FNV-1a of a string's UTF-16 units, unsigned 32 bit, with a final mix so that the low bits are good. */
export function hashName(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  hash ^= hash >>> 15;
  return hash >>> 0;
}

/** Some resources of one set, sorted by name. Immutable. */
export class Bucket {
  #delta: Block | undefined;
  #sotw: Block | undefined;

  constructor(readonly resources: readonly EncodedResource[], readonly digest: string) {}

  /** The resource of that name. */
  get(name: string): EncodedResource | undefined {
    let low = 0;
    let high = this.resources.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const resource = this.resources[middle]!;
      if (resource.name === name) return resource;
      if (resource.name < name) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }

  /** The bytes of all its resources in one form; made once. */
  block(form: Form): Block {
    if (form === "delta") return this.#delta ??= new Block(this.resources.map((r) => r.delta));
    return this.#sotw ??= new Block(this.resources.map((r) => r.sotw));
  }
}

/**
 * Interns buckets by content. One table for a whole server: what shares a table shares memory.
 * Entries are held weakly and vanish with the last set that uses them.
 */
export class ResourceTable {
  /** The set without resources. */
  readonly empty: ResourceSet;
  readonly emptyBucket: Bucket = new Bucket([], "");
  readonly #buckets = new Map<string, WeakRef<Bucket>>();
  readonly #gone = new FinalizationRegistry<string>((digest) => {
    if (this.#buckets.get(digest)?.deref() === undefined) this.#buckets.delete(digest);
  });

  constructor() {
    this.empty = new ResourceSet(this, [this.emptyBucket], 0);
  }

  /** The bucket with these resources; `resources` must be sorted by name and must not change afterwards. */
  bucket(resources: readonly EncodedResource[]): Bucket {
    if (resources.length === 0) return this.emptyBucket;
    // Type and name are part of each version's hash, so the versions alone tell buckets apart.
    const digest = resources.length === 1 ? resources[0]!.version : contentHash(resources.map((r) => r.version).join());
    const known = this.#buckets.get(digest)?.deref();
    if (known !== undefined) return known;
    const bucket = new Bucket(resources, digest);
    this.#buckets.set(digest, new WeakRef(bucket));
    this.#gone.register(bucket, digest);
    return bucket;
  }

  /** A set of these resources; of several with one name the last wins. */
  from(resources: Iterable<EncodedResource>): ResourceSet {
    return this.empty.with(resources);
  }

  /** Buckets alive now (for tests and debug pages). */
  get size(): number {
    return this.#buckets.size;
  }
}

/** Number of buckets for `size` resources, given the present number: grows above 2, shrinks below 1/4 of the target. */
function bucketCount(size: number, present: number): number {
  let count = present;
  while (size > count * BUCKET_TARGET * 2) count *= 2;
  while (count > 1 && size < count * BUCKET_TARGET / 4) count /= 2;
  return count;
}

/** Resources by name. Immutable; make one with {@linkcode ResourceTable.from} or {@linkcode ResourceSet.with}. */
export class ResourceSet {
  readonly #diffs = new WeakMap<ResourceSet, Diff>();
  #digest: string | undefined;
  #versions: VersionTable | undefined;
  #list: readonly EncodedResource[] | undefined;

  constructor(
    readonly table: ResourceTable,
    /** A power of two of buckets; the bucket of a name is `hashName(name) & (buckets.length - 1)`. */
    readonly buckets: readonly Bucket[],
    /** Number of resources. */
    readonly size: number,
  ) {}

  /** The resource of that name. */
  get(name: string): EncodedResource | undefined {
    return this.buckets[hashName(name) & (this.buckets.length - 1)]!.get(name);
  }

  /** Whether a resource of that name is here. */
  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** All resources in the order of iteration; made once. */
  get list(): readonly EncodedResource[] {
    return this.#list ??= this.buckets.flatMap((bucket) => bucket.resources);
  }

  /** Finds names and versions, as clients tell them, in {@linkcode ResourceSet.list}; made once. */
  get versions(): VersionTable {
    return this.#versions ??= new VersionTable(this.list);
  }

  /** All resources, bucket by bucket. */
  *[Symbol.iterator](): IterableIterator<EncodedResource> {
    for (const bucket of this.buckets) yield* bucket.resources;
  }

  /** Hash of the content; sets that were built in the same way from the same resources have the same. */
  get digest(): string {
    return this.#digest ??= contentHash(this.buckets.map((bucket) => bucket.digest).join());
  }

  /**
   * The set with `upserts` put in and `removed` taken out (upserts win). Returns `this` when nothing differs by
   * version. Costs the touched buckets plus one array of bucket pointers.
   */
  with(upserts: Iterable<EncodedResource>, removed: Iterable<string> = []): ResourceSet {
    if (this.size === 0) return this.#filled(upserts);
    const touched = new Map<number, Map<string, EncodedResource | undefined>>();
    const mask = this.buckets.length - 1;
    const touch = (name: string, resource: EncodedResource | undefined) => {
      const index = hashName(name) & mask;
      let changes = touched.get(index);
      if (changes === undefined) touched.set(index, changes = new Map());
      changes.set(name, resource);
    };
    for (const name of removed) touch(name, undefined);
    for (const resource of upserts) touch(resource.name, resource);

    const changed: [number, EncodedResource[]][] = [];
    let size = this.size;
    for (const [index, changes] of touched) {
      const before = this.buckets[index]!;
      const after = applyChanges(before, changes);
      if (after === undefined) continue;
      size += after.length - before.resources.length;
      changed.push([index, after]);
    }
    if (changed.length === 0) return this;
    const count = bucketCount(size, this.buckets.length);
    if (count !== this.buckets.length) return this.#rebuilt(changed, size, count);
    const buckets = this.buckets.slice();
    for (const [index, resources] of changed) buckets[index] = this.table.bucket(resources);
    return new ResourceSet(this.table, buckets, size);
  }

  #filled(upserts: Iterable<EncodedResource>): ResourceSet {
    const resources = new Map<string, EncodedResource>();
    for (const resource of upserts) resources.set(resource.name, resource);
    if (resources.size === 0) return this;
    return this.#grouped([[...resources.values()]], resources.size, bucketCount(resources.size, 1));
  }

  #rebuilt(changed: [number, EncodedResource[]][], size: number, count: number): ResourceSet {
    const contents: (readonly EncodedResource[])[] = this.buckets.map((bucket) => bucket.resources);
    for (const [index, resources] of changed) contents[index] = resources;
    return this.#grouped(contents, size, count);
  }

  #grouped(contents: readonly (readonly EncodedResource[])[], size: number, count: number): ResourceSet {
    const groups = Array.from({ length: count }, (): EncodedResource[] => []);
    for (const resources of contents) {
      for (const resource of resources) groups[hashName(resource.name) & (count - 1)]!.push(resource);
    }
    return new ResourceSet(this.table, groups.map((group) => this.table.bucket(group.sort(byName))), size);
  }

  /** The set with only the resources that `keep` accepts; buckets that lose nothing are shared. */
  filter(keepBucket: (bucket: Bucket) => Bucket): ResourceSet {
    let size = 0;
    let same = true;
    const buckets = this.buckets.map((bucket) => {
      const kept = bucket.resources.length === 0 ? bucket : keepBucket(bucket);
      size += kept.resources.length;
      same &&= kept === bucket;
      return kept;
    });
    return same ? this : size === 0 ? this.table.empty : new ResourceSet(this.table, buckets, size);
  }

  /** What must be sent to turn a holder of this set into a holder of `to`. Computed once per pair. */
  diffTo(to: ResourceSet): Diff {
    let diff = this.#diffs.get(to);
    if (diff === undefined) this.#diffs.set(to, diff = computeDiff(this, to));
    return diff;
  }
}

function byName(a: EncodedResource, b: EncodedResource): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** The bucket's resources after the changes, sorted; undefined when no version differs. */
function applyChanges(
  bucket: Bucket,
  changes: Map<string, EncodedResource | undefined>,
): EncodedResource[] | undefined {
  let differs = false;
  for (const [name, resource] of changes) {
    if (bucket.get(name)?.version !== resource?.version) differs = true;
    else changes.delete(name);
  }
  if (!differs) return undefined;
  const after = bucket.resources.filter((resource) => !changes.has(resource.name));
  for (const resource of changes.values()) if (resource !== undefined) after.push(resource);
  return after.sort(byName);
}
