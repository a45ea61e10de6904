/**
 * Interned sets of resource names: what a client subscribes to.
 *
 * Most proxies of a mesh send byte for byte the same list of names. The raw run of name fields is hashed, and an equal
 * run gives the same {@linkcode NameSet} without decoding one string again; unions and differences are remembered. A
 * selection of a resource set by names is remembered too, bucket by bucket, so that a change costs what changed.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { contentHash } from "./encoded.ts";
import { WireCursor } from "./protowire.ts";
import type { Bucket, ResourceSet } from "./set.ts";

/** An immutable set of names. Equal content from one {@linkcode NameTable} is the same object. */
export class NameSet {
  readonly #selected = new WeakMap<ResourceSet, ResourceSet>();
  readonly #without = new WeakMap<ResourceSet, ResourceSet>();
  readonly #selectedBuckets = new WeakMap<Bucket, Bucket>();
  readonly #withoutBuckets = new WeakMap<Bucket, Bucket>();

  constructor(readonly names: ReadonlySet<string>, readonly digest: string) {}

  /** Number of names. */
  get size(): number {
    return this.names.size;
  }

  /** Whether the name is in the set. */
  has(name: string): boolean {
    return this.names.has(name);
  }

  /** The resources of `set` whose name or alias is in here. */
  select(set: ResourceSet): ResourceSet {
    return this.#narrow(set, this.#selected, this.#selectedBuckets, true);
  }

  /** The resources of `set` whose name and aliases are not in here. */
  exclude(set: ResourceSet): ResourceSet {
    if (this.size === 0) return set;
    return this.#narrow(set, this.#without, this.#withoutBuckets, false);
  }

  #narrow(
    set: ResourceSet,
    sets: WeakMap<ResourceSet, ResourceSet>,
    buckets: WeakMap<Bucket, Bucket>,
    wanted: boolean,
  ): ResourceSet {
    let result = sets.get(set);
    if (result !== undefined) return result;
    result = set.filter((bucket) => {
      let kept = buckets.get(bucket);
      if (kept === undefined) {
        const resources = bucket.resources.filter((resource) =>
          (this.names.has(resource.name) || resource.aliases.some((alias) => this.names.has(alias))) === wanted
        );
        kept = resources.length === bucket.resources.length ? bucket : set.table.bucket(resources);
        buckets.set(bucket, kept);
      }
      return kept;
    });
    sets.set(set, result);
    return result;
  }
}

/** Runs of this many bytes are worth a comparison with those that came last. */
const LONG_RUN = 4096;

/** How many long runs are kept to compare with. */
const RECENT_RUNS = 4;

/** Interns {@linkcode NameSet}s. One table for a server; entries are held weakly. */
export class NameTable {
  /** The set without names. */
  readonly empty: NameSet;
  readonly #sets = new Map<string, WeakRef<NameSet>>();
  readonly #runs = new Map<string, WeakRef<NameSet>>();
  /** Long runs that came last: proxies ask for the same, and to compare bytes costs a twentieth of hashing them. */
  #recent: { readonly run: Uint8Array; readonly set: NameSet }[] = [];
  readonly #unions = new WeakMap<NameSet, WeakMap<NameSet, NameSet>>();
  readonly #minus = new WeakMap<NameSet, WeakMap<NameSet, NameSet>>();
  readonly #gone = new FinalizationRegistry<{ map: Map<string, WeakRef<NameSet>>; key: string }>(({ map, key }) => {
    if (map.get(key)?.deref() === undefined) map.delete(key);
  });

  constructor() {
    this.empty = new NameSet(new Set(), "");
  }

  /** The set with these names. */
  of(names: Iterable<string>): NameSet {
    const set = new Set(names);
    if (set.size === 0) return this.empty;
    const digest = contentHash([...set].sort().join("\0"));
    const known = this.#sets.get(digest)?.deref();
    if (known !== undefined) return known;
    const made = new NameSet(set, digest);
    this.#remember(this.#sets, digest, made);
    return made;
  }

  /**
   * The names in a run of consecutive string fields (tags and lengths included) of an encoded message.
   *
   * @throws WireError when the run is not a sequence of length-delimited fields
   */
  decode(run: Uint8Array): NameSet {
    if (run.length === 0) return this.empty;
    if (run.length < LONG_RUN) return this.#decode(run);
    const recent = this.#recent.find((one) => one.run.length === run.length && Buffer.compare(one.run, run) === 0);
    if (recent !== undefined) return recent.set;
    const set = this.#decode(run);
    this.#recent = [{ run: run.slice(), set }, ...this.#recent].slice(0, RECENT_RUNS);
    return set;
  }

  #decode(run: Uint8Array): NameSet {
    const key = contentHash(run);
    const known = this.#runs.get(key)?.deref();
    if (known !== undefined) return known;
    const names: string[] = [];
    const cursor = new WireCursor(run);
    while (cursor.next()) names.push(cursor.string());
    const made = this.of(names);
    this.#remember(this.#runs, key, made);
    return made;
  }

  /** Names in either. */
  union(a: NameSet, b: NameSet): NameSet {
    if (b.size === 0 || a === b) return a;
    if (a.size === 0) return b;
    return memo(this.#unions, a, b, () => this.of([...a.names, ...b.names]));
  }

  /** Names of `a` that are not in `b`. */
  minus(a: NameSet, b: NameSet): NameSet {
    if (a.size === 0 || b.size === 0) return a;
    if (a === b) return this.empty;
    return memo(this.#minus, a, b, () => this.of([...a.names].filter((name) => !b.names.has(name))));
  }

  #remember(map: Map<string, WeakRef<NameSet>>, key: string, set: NameSet): void {
    map.set(key, new WeakRef(set));
    this.#gone.register(set, { map, key });
  }
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
