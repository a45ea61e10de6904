/**
 * What all parts of a description share: keys of objects.
 *
 * @module
 */
import { writtenKey } from "../../finding/origin.ts";
import type { DescribedWorld } from "./world.ts";

/** A described part, and the keys of its objects. */
export interface KeyedPart<T> {
  readonly part: T;
  readonly keys: readonly string[];
}

/** A key in the spelling of the object's author. */
export function spelledKey(key: string, { store }: Pick<DescribedWorld, "store">): string {
  const object = store.at(key);
  return object === undefined ? key : writtenKey(object);
}
