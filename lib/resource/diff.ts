/**
 * What differs between two sets of resources. Buckets are compared by identity first, so a comparison costs the number
 * of buckets plus what changed; the result is kept per pair of sets, so that all streams that move from one set to
 * another share one computation and one byte run.
 *
 * @module
 */
import { Block, type Form } from "./block.ts";
import type { EncodedResource } from "./encoded.ts";
import type { NameSet, NameTable } from "./names.ts";
import type { Bucket, ResourceSet } from "./set.ts";

/** Resources in a block of a diff that is not made of whole buckets. */
const RUN_LENGTH = 64;

/** A part of a diff; see {@linkcode Diff.upTo}. */
export interface DiffPart {
  readonly diff: Diff;
  readonly next: ResourceSet;
  readonly bytes: number;
}

/** The difference between two sets. Immutable from outside; caches its byte runs. */
export class Diff {
  #delta: readonly Block[] | undefined;
  #sotw: readonly Block[] | undefined;
  #warms: NameSet | undefined;
  #deltaBytes: number | undefined;
  #sotwBytes: number | undefined;
  readonly #parts = new Map<number, DiffPart>();

  constructor(
    /** Resources that are new or have another version. */
    readonly changed: readonly EncodedResource[],
    /** Names that are gone. */
    readonly removed: readonly string[],
    /** Set when `changed` is exactly the content of these buckets: then their shared blocks are used. */
    private readonly buckets?: readonly Bucket[],
  ) {}

  /** Nothing to send. */
  get empty(): boolean {
    return this.changed.length === 0 && this.removed.length === 0;
  }

  /** The changed resources as shared byte runs. */
  blocks(form: Form): readonly Block[] {
    if (form === "delta") return this.#delta ??= this.#runs(form);
    return this.#sotw ??= this.#runs(form);
  }

  /**
   * The part of this diff that fits into `maxBytes` (at least one resource), and the set that a holder of `from` has
   * after it. Remembered, so that all streams that go the same way share the parts.
   *
   * @param from the set that this diff starts from
   * @param to the set that it leads to
   */
  upTo(maxBytes: number, from: ResourceSet, to: ResourceSet, form: Form): DiffPart {
    const total = this.#bytes(form);
    if (total <= maxBytes) return { diff: this, next: to, bytes: total };
    let bytes = 0;
    let count = 0;
    for (const resource of this.changed) {
      bytes += resource[form].length;
      if (bytes > maxBytes && count > 0) break;
      count++;
    }
    if (count === this.changed.length) return { diff: this, next: to, bytes };
    let part = this.#parts.get(count);
    if (part === undefined) {
      const next = from.with(this.changed.slice(0, count), this.removed);
      this.#parts.set(count, part = { diff: from.diffTo(next), next, bytes });
    }
    return part;
  }

  /** Names of the resources that must be sent again because a changed resource warms on them. */
  warms(table: NameTable): NameSet {
    return this.#warms ??= table.of(this.changed.flatMap((resource) => resource.warms));
  }

  /** Plain bytes of the changed resources. */
  #bytes(form: Form): number {
    if (form === "delta") return this.#deltaBytes ??= sum(this.changed, form);
    return this.#sotwBytes ??= sum(this.changed, form);
  }

  #runs(form: Form): Block[] {
    if (this.buckets !== undefined) return this.buckets.map((bucket) => bucket.block(form));
    const blocks: Block[] = [];
    for (let i = 0; i < this.changed.length; i += RUN_LENGTH) {
      blocks.push(new Block(this.changed.slice(i, i + RUN_LENGTH).map((resource) => resource[form])));
    }
    return blocks;
  }
}

/** The byte runs of a whole set, one block a bucket. */
export function setBlocks(set: ResourceSet, form: Form): Block[] {
  return set.buckets.filter((bucket) => bucket.resources.length > 0).map((bucket) => bucket.block(form));
}

/** Compares two sets; use {@linkcode ResourceSet.diffTo}, which remembers. */
export function computeDiff(from: ResourceSet, to: ResourceSet): Diff {
  if (from === to) return new Diff([], []);
  if (from.size === 0) return whole(to);
  const changed: EncodedResource[] = [];
  const removed: string[] = [];
  if (from.buckets.length === to.buckets.length) {
    for (let i = 0; i < to.buckets.length; i++) {
      const before = from.buckets[i]!;
      const after = to.buckets[i]!;
      if (before === after) continue;
      for (const resource of after.resources) {
        if (before.get(resource.name)?.version !== resource.version) changed.push(resource);
      }
      for (const resource of before.resources) {
        if (after.get(resource.name) === undefined) removed.push(resource.name);
      }
    }
  } else {
    for (const resource of to) if (from.get(resource.name)?.version !== resource.version) changed.push(resource);
    for (const resource of from) if (!to.has(resource.name)) removed.push(resource.name);
  }
  return new Diff(changed, removed);
}

function whole(to: ResourceSet): Diff {
  const buckets = to.buckets.filter((bucket) => bucket.resources.length > 0);
  return new Diff(buckets.flatMap((bucket) => bucket.resources), [], buckets);
}

function sum(resources: readonly EncodedResource[], form: Form): number {
  return resources.reduce((bytes, resource) => bytes + resource[form].length, 0);
}
