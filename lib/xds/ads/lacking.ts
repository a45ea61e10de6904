/**
 * The objects whose resources a client lacks: the client's acknowledged resources differ from the wanted resources.
 *
 * @module
 */
import type { EncodedResource } from "../../resource/encoded.ts";
import type { ResourceBucket } from "../../resource/set.ts";
import { findInStack, type SetStack } from "./set_stack.ts";

/** The client's words by key of the object; empty while the client has not said anything about the object. */
export type LackedObjects = ReadonlyMap<string, string>;

/**
 * Compares stacks. The cost grows with the number of buckets in which the stacks differ.
 *
 * @param words the client's words about a resource that the client lacks
 */
function lackedObjects(
  has: SetStack,
  wants: SetStack,
  words: (resource: EncodedResource) => string,
): Map<string, string> {
  const found = new Map<string, string>();
  const note = (resource: EncodedResource, other: EncodedResource | undefined) => {
    const said = words(resource);
    for (const { causes } of other === undefined ? [resource] : [resource, other]) noteLack(found, causes, said);
  };
  for (const wanted of unlike(wants, has)) {
    const had = findInStack(has, wanted.name);
    if (had?.version !== wanted.version) note(wanted, had);
  }
  for (const had of unlike(has, wants)) if (findInStack(wants, had.name) === undefined) note(had, undefined);
  return found;
}

/** The inputs of a comparison. */
export interface LackInputs {
  readonly has: SetStack;
  readonly wants: SetStack;
  /** Resources that the client took and rejected later. */
  readonly late: readonly EncodedResource[] | undefined;
  readonly lateWords: string;
}

/** The objects that a client lacks. Keeps the last answer. */
export class Lack {
  #last: { readonly of: LackInputs; readonly words: string; readonly objects: LackedObjects } | undefined;

  /**
   * The objects that a client lacks.
   *
   * @param said A text that changes whenever the client's words change.
   * @param words The client's words about a resource.
   */
  find(of: LackInputs, said: string, words: (resource: EncodedResource) => string): LackedObjects {
    const last = this.#last;
    const same = last?.words === said && last.of.has === of.has && last.of.wants === of.wants &&
      last.of.lateWords === of.lateWords && last.of.late?.length === of.late?.length;
    if (same) return last.objects;
    const objects = lackedObjects(of.has, of.wants, words);
    for (const { causes } of of.late ?? []) noteLack(objects, causes, of.lateWords);
    this.#last = { of, words: said, objects };
    return objects;
  }
}

/** Adds objects. An object keeps the first words about it. */
function noteLack(found: Map<string, string>, causes: readonly string[], said: string): void {
  for (const key of causes) if (!found.get(key)) found.set(key, said);
}

/** The resources of a stack in buckets that the other stack does not have in the same place. */
function* unlike(stack: SetStack, other: SetStack): Iterable<EncodedResource> {
  for (const { group, key, set } of stack) {
    const counterpart = other.find((one) => one.group === group && one.key === key)?.set;
    if (counterpart === set) continue;
    const same = new Set<ResourceBucket>(counterpart?.buckets);
    for (const bucket of set.buckets) if (!same.has(bucket)) yield* bucket.resources;
  }
}
