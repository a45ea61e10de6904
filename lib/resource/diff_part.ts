/**
 * The part of a difference between two sets for a single message: whole buckets if possible.
 *
 * @module
 */
import type { Form } from "./block.ts";
import type { EncodedResource } from "./encoded.ts";
import { type ResourceBucket, ResourceSet } from "./set.ts";

/** The resources of a bucket that are missing or have another version in the previous bucket of the same place. */
export function changedIn(before: ResourceBucket, after: ResourceBucket): readonly EncodedResource[] {
  if (before.resources.length === 0) return after.resources;
  return after.resources.filter(({ name, version }) => before.get(name)?.version !== version);
}

/** The previous bucket at a place. An empty set has no buckets of its own. */
function bucketBefore(from: ResourceSet, index: number): ResourceBucket {
  return from.size === 0 ? from.table.emptyBucket : from.buckets[index]!;
}

/**
 * The number of leading buckets whose changes fit. Sets share whole buckets, so the bytes are made once for all
 * receivers. 0 when no bucket fits, or when the sets have different numbers of buckets.
 */
export function fittingBuckets(from: ResourceSet, to: ResourceSet, maxBytes: number, form: Form): number {
  if (from.size > 0 && from.buckets.length !== to.buckets.length) return 0;
  let bytes = 0;
  let changes = false;
  for (const [index, after] of to.buckets.entries()) {
    const before = bucketBefore(from, index);
    if (before === after) continue;
    bytes += before.resources.length === 0 ? after.block(form).size : sum(changedIn(before, after), form);
    if (bytes > maxBytes) return changes ? index : 0;
    changes = true;
  }
  return to.buckets.length;
}

/** The set with the first `count` buckets of `to`, and the remaining buckets of `from`. */
export function firstBuckets(from: ResourceSet, to: ResourceSet, count: number): ResourceSet {
  const buckets = to.buckets.map((after, index) => (index < count ? after : bucketBefore(from, index)));
  return new ResourceSet(to.table, buckets, buckets.reduce((size, { resources }) => size + resources.length, 0));
}

/** The number of leading changed resources that fit, at least one. */
export function fittingResources(changed: readonly EncodedResource[], maxBytes: number, form: Form): number {
  let bytes = 0;
  for (const [index, resource] of changed.entries()) {
    bytes += resource.sizeOf(form);
    if (bytes > maxBytes && index > 0) return index;
  }
  return changed.length;
}

/** Plain bytes of some resources. */
export function sum(resources: readonly EncodedResource[], form: Form): number {
  return resources.reduce((bytes, resource) => bytes + resource.sizeOf(form), 0);
}
