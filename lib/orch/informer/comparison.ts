/**
 * Compares the objects of an informer with a list of the API. A list and a watch do not come to the same moment
 * together, so a difference is a doubt at first; it is a drift when no event has reported it after a while.
 *
 * @module
 */
import { type ApiJson, isApiJson } from "../client/answer.ts";
import { cacheKey, type KeptObject } from "./cache.ts";

/** Kept objects by name. */
interface KeptObjects {
  get(namespace: string, name: string): KeptObject<unknown> | undefined;
  values(): IterableIterator<KeptObject<unknown>>;
}

/** Objects by key, each as `uid version`. */
export type Identities = Map<string, string>;

/** Adds an object of a list to those that it has; an object without a name is left out. */
export function addIdentity(item: unknown, into: Identities): void {
  if (!isApiJson(item) || !isApiJson(item["metadata"])) return;
  const { namespace = "", name, uid, resourceVersion }: ApiJson = item["metadata"];
  if (typeof name === "string") into.set(cacheKey({ namespace: String(namespace), name }), `${uid} ${resourceVersion}`);
}

/** Objects that are compared in one step. */
const ITEMS_A_STEP = 500;

/**
 * The objects that the API has otherwise: by key, each as it is kept; empty: it is not. The kept objects may change
 * between steps.
 */
export function* differences(listed: Identities, kept: KeptObjects): Generator<void, Identities> {
  const found: Identities = new Map();
  let count = 0;
  for (const object of kept.values()) {
    if (++count % ITEMS_A_STEP === 0) yield;
    const key = cacheKey(object);
    if (listed.get(key) !== identityOf(object)) found.set(key, identityOf(object));
  }
  for (const key of listed.keys()) {
    if (++count % ITEMS_A_STEP === 0) yield;
    const [namespace = "", name = ""] = key.split("/");
    if (kept.get(namespace, name) === undefined) found.set(key, "");
  }
  return found;
}

/** Of these differences those of which nothing was heard since. */
export function unheard(found: Identities, kept: KeptObjects): string[] {
  return [...found].filter(([key, identity]) => {
    const [namespace = "", name = ""] = key.split("/");
    return identityOf(kept.get(namespace, name)) === identity;
  }).map(([key]) => key);
}

function identityOf(object: KeptObject<unknown> | undefined): string {
  return object === undefined ? "" : `${object.uid} ${object.version}`;
}
