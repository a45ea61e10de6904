/**
 * The table of all name sets of a server.
 *
 * Most proxies of a mesh send the same list of names, byte for byte. The raw run of name fields is hashed, and an equal
 * run gives the same set without decoding any string again. Equal sets are the same object if this is cheap to detect:
 * sets are compared by identity to save work, and by content for correctness.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { hashName } from "./bucket_hash.ts";
import { type BucketRules, change, fill } from "./buckets.ts";
import { contentHash } from "./encoded.ts";
import { NameBucket, NameSet } from "./name_set.ts";
import { WireCursor } from "./protowire.ts";
import { WeakTable } from "../incremental/weak_table.ts";

/** A run with fewer bytes is decoded every time, because decoding is cheaper than a lookup. */
const SHORT_RUN = 256;

/** A run with at least this many bytes is first compared with the most recent runs. */
const LONG_RUN = 4096;

/** A longer run is not kept for comparison, because the run and its set would hold a client's megabytes without end. */
const MAX_KEPT_RUN = 1 << 20;

/** Number of long runs that are kept for comparison. */
const RECENT_RUNS = 4;

/** Unions and differences with fewer names are made anew every time, because making is cheaper than remembering. */
const FEW = 16;

/** Makes and interns {@linkcode NameSet}s. One table per server. Entries are held weakly. */
export class InternedNames {
  /** The set without names. */
  readonly empty: NameSet = new NameSet([new NameBucket([], 0)], 0);
  readonly #buckets = new WeakTable<number, NameBucket>();
  readonly #sets = new WeakTable<number, NameSet>();
  readonly #runs = new WeakTable<string, NameSet>();
  /** The most recent long runs. Proxies request the same names, and comparing bytes costs a twentieth of hashing. */
  #recent: { readonly run: Uint8Array; readonly set: WeakRef<NameSet> }[] = [];
  #last: { readonly name: string; readonly set: NameSet } | undefined;
  readonly #unions = new WeakMap<NameSet, WeakMap<NameSet, NameSet>>();
  readonly #differences = new WeakMap<NameSet, WeakMap<NameSet, NameSet>>();
  readonly #rules: BucketRules<string, NameBucket> = {
    name: (name) => name,
    hash: hashName,
    same: () => true,
    items: (bucket) => bucket.names,
    sum: (bucket) => bucket.hash,
    bucket: (names, hash) => this.#bucket(names, hash),
  };

  /** The set with a single name. The most recent request is cached. */
  one(name: string): NameSet {
    if (this.#last?.name !== name) this.#last = { name, set: this.of([name]) };
    return this.#last.set;
  }

  /** The set with the given names. */
  of(names: Iterable<string>): NameSet {
    const distinct = [...new Set(names)];
    return distinct.length === 0 ? this.empty : this.#set(fill(distinct, this.#rules));
  }

  /**
   * The names in a run of consecutive string fields (tags and lengths included) of an encoded message.
   *
   * @throws WireError when the run is not a sequence of length-delimited fields
   */
  decode(run: Uint8Array): NameSet {
    if (run.length === 0) return this.empty;
    if (run.length < SHORT_RUN) return this.of(readNames(run));
    if (run.length < LONG_RUN || run.length > MAX_KEPT_RUN) return this.#decode(run);
    const recent = this.#recent.find((one) => one.run.length === run.length && Buffer.compare(one.run, run) === 0);
    const known = recent?.set.deref();
    if (known !== undefined) return known;
    const set = this.#decode(run);
    this.#recent = [{ run: run.slice(), set: new WeakRef(set) }, ...this.#recent].slice(0, RECENT_RUNS);
    return set;
  }

  #decode(run: Uint8Array): NameSet {
    const key = contentHash(run);
    const known = this.#runs.get(key);
    if (known !== undefined) return known;
    const made = this.of(readNames(run));
    this.#runs.set(key, made);
    return made;
  }

  /** Names in `a` or `b`. */
  union(a: NameSet, b: NameSet): NameSet {
    if (a.size < b.size) return this.union(b, a);
    if (b.size === 0 || a === b) return a;
    const make = () => this.#set(change(a, b, [], this.#rules));
    return b.size < FEW ? make() : memo(this.#unions, a, b, make);
  }

  /** Names in `a` but not in `b`. */
  minus(a: NameSet, b: NameSet): NameSet {
    if (a.size === 0 || b.size === 0) return a;
    if (a === b) return this.empty;
    if (b.size < FEW) return this.#set(change(a, [], b, this.#rules));
    return memo(this.#differences, a, b, () => this.#difference(a, b));
  }

  #difference(a: NameSet, b: NameSet): NameSet {
    if (a.buckets.length !== b.buckets.length) return this.of([...a].filter((name) => !b.has(name)));
    const left: string[] = [];
    for (const [i, bucket] of a.buckets.entries()) {
      if (bucket === b.buckets[i]) continue;
      for (const name of bucket.names) if (!b.has(name)) left.push(name);
    }
    return this.of(left);
  }

  #bucket(names: readonly string[], hash: number): NameBucket {
    if (names.length === 0) return this.empty.buckets[0]!;
    const made = new NameBucket(names, hash);
    return unique(this.#buckets, hash, made);
  }

  #set({ buckets, size }: Pick<NameSet, "buckets" | "size">): NameSet {
    if (size === 0) return this.empty;
    const made = new NameSet(buckets, size);
    const key = buckets.reduce((sum, { hash }) => sum + hash, 0);
    return unique(this.#sets, key, made);
  }
}

/** The equal object in the table, or else the given object. */
function unique<T extends WeakKey & { equals(other: T): boolean }>(
  table: WeakTable<number, T>,
  key: number,
  made: T,
): T {
  const known = table.get(key);
  if (known !== undefined && known.equals(made)) return known;
  table.set(key, made);
  return made;
}

function* readNames(run: Uint8Array): Iterable<string> {
  const cursor = new WireCursor(run);
  while (cursor.next()) yield cursor.string();
}

function memo(
  table: WeakMap<NameSet, WeakMap<NameSet, NameSet>>,
  a: NameSet,
  b: NameSet,
  make: () => NameSet,
): NameSet {
  let row = table.get(a);
  if (row === undefined) table.set(a, row = new WeakMap());
  let result = row.get(b);
  if (result === undefined) row.set(b, result = make());
  return result;
}
