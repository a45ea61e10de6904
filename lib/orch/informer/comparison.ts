/**
 * Compares the objects of an informer with a list of the API. A list and a watch do not show the same moment, so a
 * difference is only suspected at first. The difference is a drift if no event has reported it after a while.
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

/** Adds the identity of a listed object. An object without a name is left out. */
export function addIdentity(item: unknown, into: Identities): void {
  if (!isApiJson(item) || !isApiJson(item["metadata"])) return;
  const { namespace = "", name, uid, resourceVersion }: ApiJson = item["metadata"];
  if (typeof name === "string") into.set(cacheKey({ namespace: String(namespace), name }), `${uid} ${resourceVersion}`);
}

/** Most objects that a step compares. */
const ITEMS_A_STEP = 500;

/**
 * The objects that differ in the API: the kept identity by key; empty: the object is not kept. The kept objects may
 * change between steps.
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

/** The differences that no event has resolved since. */
export function unheard(found: Identities, kept: KeptObjects): string[] {
  return [...found].filter(([key, identity]) => {
    const [namespace = "", name = ""] = key.split("/");
    return identityOf(kept.get(namespace, name)) === identity;
  }).map(([key]) => key);
}

function identityOf(object: KeptObject<unknown> | undefined): string {
  return object === undefined ? "" : `${object.uid} ${object.version}`;
}
