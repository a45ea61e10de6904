/**
 * Our spelling turned into Istio's, for authors of objects in Istio's spelling, who get to see their own spelling.
 *
 * @module
 */
import type { Origin } from "../../finding/origin.ts";
import { FIELD_SPELLINGS, ownKey, PLAIN_KEYS, VALUE_SPELLINGS } from "./spelling.ts";

const ISTIO_FIELDS = turned(FIELD_SPELLINGS);
const ISTIO_VALUES = turned(VALUE_SPELLINGS);
const ISTIO_PLAIN_KEYS = turned(PLAIN_KEYS);

function turned(spellings: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(spellings).map(([istio, own]) => [own, istio]));
}

/** A label, an annotation, or `label=value`, in the domains of the mesh. */
const OWN_KEY = /^((?:[a-z0-9-]+\.)*)mesh\.io\//;

/** A label or annotation key in Istio's spelling. */
export function istioKey(key: string): string {
  return ISTIO_PLAIN_KEYS.get(key) ?? key.replace(OWN_KEY, "$1istio.io/");
}

/**
 * The origin with the labels and annotations in Istio's spelling from the metadata of its object, or of the object's
 * pods.
 */
export function withIstioKeys<O extends Origin>(origin: O, ...metadata: readonly unknown[]): O {
  if (origin.from === "derived") return origin;
  let istioKeys: string[] | undefined;
  // Lists of all keys would be garbage at once: a server starts with tens of thousands of objects.
  const look = (map: unknown) => {
    if (typeof map !== "object" || map === null) return;
    for (const name in map) {
      const own = ownKey(name);
      if (own !== name) (istioKeys ??= []).push(keyString(own));
    }
  };
  for (const one of metadata) {
    look(member(one, "labels"));
    look(member(one, "annotations"));
  }
  return istioKeys === undefined ? origin : { ...origin, istioKeys: sharedKeys(istioKeys) };
}

/** Most different lists that are remembered. */
const MOST_LISTS = 1000;
const lists = new Map<string, readonly string[]>();

/** A list with these keys: an earlier list if there is one. Nearly all objects of a mesh have one of a few lists. */
function sharedKeys(keys: readonly string[]): readonly string[] {
  const text = keys.join();
  const known = lists.get(text);
  if (known !== undefined) return known;
  if (lists.size >= MOST_LISTS) lists.clear();
  // A copy has room only for its items. A list that grew has room for seventeen.
  const made = keys.slice();
  lists.set(text, made);
  return made;
}

/** The engine keeps one string for each key of objects, so that objects with the same keys share it. */
function keyString(text: string): string {
  return Object.keys({ [text]: 0 })[0]!;
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** A label or annotation in the spelling of its object's author. */
export function spelledKey(origin: Origin, key: string): string {
  return origin.from !== "derived" && origin.istioKeys?.includes(key) === true ? istioKey(key) : key;
}

/** A tree of JSON with fields, labels and values in Istio's spelling. */
export function inIstioSpelling(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(inIstioSpelling);
  if (typeof tree === "string") return ISTIO_VALUES.get(tree) ?? istioKey(tree);
  if (typeof tree !== "object" || tree === null) return tree;
  return Object.fromEntries(
    Object.entries(tree).map(([key, value]) => [
      ISTIO_FIELDS.get(key) ?? istioKey(key),
      key === "security.mesh.io/tlsMode" && value === "mesh" ? "istio" : inIstioSpelling(value),
    ]),
  );
}
