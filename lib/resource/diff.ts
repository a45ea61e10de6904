/**
 * The differences between two sets of resources. Buckets are compared by identity first, so a comparison costs the
 * number of buckets plus the changes. The result is kept per pair of sets, so all streams between the same two sets
 * share a computation and a byte run.
 *
 * @module
 */
import type { Block, Form } from "./block.ts";
import { blockOf, type EncodedResource } from "./encoded.ts";
import type { NameSet } from "./name_set.ts";
import type { InternedNames } from "./names.ts";
import { changedIn, firstBuckets, fittingBuckets, fittingResources, sum } from "./diff_part.ts";
import type { ResourceBucket, ResourceSet } from "./set.ts";

/** Number of resources in a block of a diff, unless the diff consists of whole buckets. */
const RUN_LENGTH = 64;

/** The difference between two sets. Immutable from outside. Caches its byte runs. */
export class Diff {
  #delta: readonly Block[] | undefined;
  readonly #buckets: readonly ResourceBucket[] | undefined;
  #sotw: readonly Block[] | undefined;
  #warms: NameSet | undefined;
  #deltaBytes: number | undefined;
  #sotwBytes: number | undefined;

  constructor(
    /** New resources, and resources with another version. */
    readonly changed: readonly EncodedResource[],
    /** Names of removed resources. */
    readonly removed: readonly string[],
    /** Set when `changed` is exactly the content of these buckets, so their shared blocks are used. */
    buckets?: readonly ResourceBucket[],
  ) {
    this.#buckets = buckets;
  }

  /** Nothing to send. */
  get empty(): boolean {
    return this.changed.length === 0 && this.removed.length === 0;
  }

  /** The changed resources as shared byte runs. */
  blocks(form: Form): readonly Block[] {
    if (form === "delta") return this.#delta ??= this.#runs(form);
    return this.#sotw ??= this.#runs(form);
  }

  /** Names of the resources to send again because a changed resource warms on them. */
  warms(table: InternedNames): NameSet {
    return this.#warms ??= table.of(this.changed.flatMap((resource) => resource.warms));
  }

  /** Plain bytes of the changed resources. */
  bytes(form: Form): number {
    if (form === "delta") return this.#deltaBytes ??= sum(this.changed, form);
    return this.#sotwBytes ??= sum(this.changed, form);
  }

  #runs(form: Form): Block[] {
    if (this.#buckets !== undefined) return this.#buckets.map((bucket) => bucket.block(form));
    const blocks: Block[] = [];
    for (let i = 0; i < this.changed.length; i += RUN_LENGTH) {
      blocks.push(blockOf(this.changed.slice(i, i + RUN_LENGTH), form));
    }
    return blocks;
  }
}

/** The first part of the difference between two sets. */
export interface DiffPart {
  readonly diff: Diff;
  /** The set of a holder of the first set after this part. */
  readonly next: ResourceSet;
  readonly bytes: number;
}

/** The remembered results for a pair of sets. */
interface Way {
  readonly diff: Diff;
  /** Parts of the diff by their number of resources, or by the negative number of buckets. */
  readonly parts: Map<number, DiffPart>;
}

/** Remembers the differences between sets while both sets are in use. One table per server. */
export class DiffTable {
  readonly #ways = new WeakMap<ResourceSet, WeakMap<ResourceSet, Way>>();

  /** The resources and names that turn a holder of one set into a holder of the other. */
  between(from: ResourceSet, to: ResourceSet): Diff {
    return this.#way(from, to).diff;
  }

  /**
   * The part of a diff that fits into `maxBytes` (at least one resource). Parts are remembered, so all streams between
   * the same two sets share parts.
   */
  part(from: ResourceSet, to: ResourceSet, maxBytes: number, form: Form): DiffPart {
    const { diff, parts } = this.#way(from, to);
    const total = diff.bytes(form);
    if (total <= maxBytes) return { diff, next: to, bytes: total };
    const buckets = fittingBuckets(from, to, maxBytes, form);
    const key = buckets > 0 ? -buckets : fittingResources(diff.changed, maxBytes, form);
    if (key === diff.changed.length) return { diff, next: to, bytes: total };
    let part = parts.get(key);
    if (part === undefined) {
      const next = buckets > 0 ? firstBuckets(from, to, buckets) : from.with(diff.changed.slice(0, key), diff.removed);
      const way = this.between(from, next);
      parts.set(key, part = { diff: way, next, bytes: way.bytes(form) });
    }
    return part;
  }

  #way(from: ResourceSet, to: ResourceSet): Way {
    let row = this.#ways.get(from);
    if (row === undefined) this.#ways.set(from, row = new WeakMap());
    let way = row.get(to);
    if (way === undefined) row.set(to, way = { diff: compare(from, to), parts: new Map() });
    return way;
  }
}

/** The byte runs of a whole set, one block per bucket. */
export function setBlocks(set: ResourceSet, form: Form): Block[] {
  return set.buckets.filter((bucket) => bucket.resources.length > 0).map((bucket) => bucket.block(form));
}

function compare(from: ResourceSet, to: ResourceSet): Diff {
  if (from === to) return new Diff([], []);
  if (from.size === 0) return whole(to);
  if (from.buckets.length !== to.buckets.length) {
    const changed = [...to].filter(({ name, version }) => from.get(name)?.version !== version);
    return new Diff(changed, [...from].map(({ name }) => name).filter((name) => !to.has(name)));
  }
  const differing = to.buckets.map((after, i) => ({ before: from.buckets[i]!, after })).filter(
    ({ before, after }) => before !== after,
  );
  const changed = differing.flatMap(({ before, after }) => changedIn(before, after));
  const removed = differing.flatMap(({ before, after }) =>
    before.resources.map(({ name }) => name).filter((name) => after.get(name) === undefined)
  );
  const areNew = differing.every(({ before }) => before.resources.length === 0);
  return new Diff(changed, removed, areNew ? differing.map(({ after }) => after) : undefined);
}

function whole(to: ResourceSet): Diff {
  const buckets = to.buckets.filter((bucket) => bucket.resources.length > 0);
  return new Diff(buckets.flatMap((bucket) => bucket.resources), [], buckets);
}
