/**
 * Persistent maps from name to item, as arrays of buckets. The items of a bucket are sorted by name, and the hash of a
 * name determines its bucket. A change copies only the touched buckets and the array of pointers. Sets of resources and
 * sets of names are such maps.
 *
 * @module
 */

import { indexOf } from "./bucket_hash.ts";

/**
 * Average number of items in a bucket. Larger blocks of resources compress better (64 are 8% smaller than 32, 128 are
 * 14% smaller: `tests/bench/wire_bench.ts --levels`). Smaller blocks are shared more among proxies with slightly
 * different views, and are cheaper to rebuild.
 */
export const BUCKET_TARGET = 64;

/** How items become buckets. */
export interface BucketRules<Item, Bucket> {
  name(item: Item): string;
  /** {@linkcode hashName} or {@linkcode hashByDomain}. */
  hash(name: string): number;
  /** Whether replacing one item with the other changes nothing. */
  same(a: Item, b: Item): boolean;
  items(bucket: Bucket): readonly Item[];
  /** The sum with which the bucket was made. 0 where no sum is needed. */
  sum(bucket: Bucket): number;
  /**
   * Makes a bucket.
   *
   * @param items Sorted by name. Must not change afterwards.
   * @param sum Sum of the names' hashes.
   */
  bucket(items: readonly Item[], sum: number): Bucket;
}

/** A bucket during a change. */
interface BucketDraft<Item> {
  readonly items: Item[];
  sum: number;
}

/** Buckets, with the total number of items. The number of buckets is a power of two. */
export interface Bucketed<Bucket> {
  readonly buckets: readonly Bucket[];
  readonly size: number;
}

/** The bucket for an item whose name has the hash. */
export function bucketOf<Bucket>(hash: number, buckets: readonly Bucket[]): Bucket {
  return buckets[indexOf(hash, buckets.length)]!;
}

/** The index of a name among sorted items. For a missing name: `-1 - at`, where `at` is the place for the name. */
export function findSorted<Item>(items: readonly Item[], name: string, nameOf: (item: Item) => string): number {
  let low = 0;
  let high = items.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = nameOf(items[middle]!);
    if (found === name) return middle;
    if (found < name) low = middle + 1;
    else high = middle - 1;
  }
  return -1 - low;
}

/** Number of buckets for `size` items, given the present number: grows above 2, shrinks below 1/4 of the target. */
function bucketCount(size: number, present: number): number {
  let count = present;
  while (size > count * BUCKET_TARGET * 2) count *= 2;
  while (count > 1 && size < count * BUCKET_TARGET / 4) count /= 2;
  return count;
}

/** Buckets of items with distinct names. */
export function fill<Item, Bucket>(
  items: readonly Item[],
  rules: BucketRules<Item, Bucket>,
): Bucketed<Bucket> {
  return group([items], items.length, bucketCount(items.length, 1), rules);
}

function group<Item, Bucket>(
  contents: Iterable<readonly Item[]>,
  size: number,
  count: number,
  rules: BucketRules<Item, Bucket>,
): Bucketed<Bucket> {
  const drafts = Array.from({ length: count }, (): BucketDraft<Item> => ({ items: [], sum: 0 }));
  for (const items of contents) {
    for (const item of items) {
      const hash = rules.hash(rules.name(item));
      const draft = drafts[indexOf(hash, count)]!;
      draft.items.push(item);
      draft.sum += hash;
    }
  }
  const byName = (a: Item, b: Item) => rules.name(a) < rules.name(b) ? -1 : 1;
  const sorted = (items: Item[]) => items.length < 2 ? items : items.sort(byName);
  return { buckets: drafts.map(({ items, sum }) => rules.bucket(sorted(items), sum)), size };
}

/**
 * The buckets with `upserts` added and `removed` taken out (upserts win). Of several upserts with the same name, the
 * last wins. Returns `before` when nothing differs. Costs the touched buckets and an array of pointers.
 */
export function change<Item, Bucket>(
  before: Bucketed<Bucket>,
  upserts: Iterable<Item>,
  removed: Iterable<string>,
  rules: BucketRules<Item, Bucket>,
): Bucketed<Bucket> {
  const { buckets } = before;
  const drafts = new Map<number, BucketDraft<Item>>();
  let size = before.size;
  const edit = (index: number): BucketDraft<Item> => {
    let draft = drafts.get(index);
    if (draft === undefined) {
      const bucket = buckets[index]!;
      drafts.set(index, draft = { items: rules.items(bucket).slice(), sum: rules.sum(bucket) });
    }
    return draft;
  };
  /** Replaces or adds the item of a name, or removes the item. */
  const put = (name: string, item: Item | undefined) => {
    const hash = rules.hash(name);
    const index = indexOf(hash, buckets.length);
    const items = drafts.get(index)?.items ?? rules.items(buckets[index]!);
    const at = findSorted(items, name, rules.name);
    if (at >= 0 && item !== undefined) {
      if (!rules.same(items[at]!, item)) edit(index).items[at] = item;
      return;
    }
    if (at < 0 && item === undefined) return;
    const draft = edit(index);
    if (item === undefined) draft.items.splice(at, 1);
    else draft.items.splice(-1 - at, 0, item);
    draft.sum += item === undefined ? -hash : hash;
    size += item === undefined ? -1 : 1;
  };
  for (const name of removed) put(name, undefined);
  for (const item of upserts) put(rules.name(item), item);
  return finish(before, drafts, size, rules);
}

function finish<Item, Bucket>(
  before: Bucketed<Bucket>,
  drafts: ReadonlyMap<number, BucketDraft<Item>>,
  size: number,
  rules: BucketRules<Item, Bucket>,
): Bucketed<Bucket> {
  if (drafts.size === 0) return before;
  const count = bucketCount(size, before.buckets.length);
  if (count !== before.buckets.length) {
    const contents = before.buckets.map((bucket, index) => drafts.get(index)?.items ?? rules.items(bucket));
    return group(contents, size, count, rules);
  }
  const changed = [...drafts].map(([index, { items, sum }]) => [index, rules.bucket(items, sum)] as const);
  if (changed.every(([index, bucket]) => bucket === before.buckets[index])) return before;
  const buckets = before.buckets.slice();
  for (const [index, bucket] of changed) buckets[index] = bucket;
  return { buckets, size };
}
