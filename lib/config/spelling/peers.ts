/**
 * Our spelling turned into Istio's, for authors of objects in Istio's spelling, who get to see their own spelling.
 *
 * @module
 */
import type { Origin } from "../../finding/origin.ts";
import { FIELD_SPELLINGS, ownKey, PLAIN_KEYS, VALUE_SPELLINGS } from "./spelling.ts";

const PEERS_FIELDS = turned(FIELD_SPELLINGS);
const PEERS_VALUES = turned(VALUE_SPELLINGS);
const PEERS_PLAIN_KEYS = turned(PLAIN_KEYS);

function turned(spellings: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(spellings).map(([peers, own]) => [own, peers]));
}

/** A label, an annotation, or `label=value`, of our domains alone. */
const OWN_KEY = /^((?:[a-z0-9-]+\.)*)mesh\.io\//;

/** A label or annotation key in Istio's spelling. */
export function peersKey(key: string): string {
  return PEERS_PLAIN_KEYS.get(key) ?? key.replace(OWN_KEY, "$1istio.io/");
}

/**
 * The origin with the labels and annotations in Istio's spelling from the metadata of its object, or of the object's
 * pods.
 */
export function withPeersKeys<O extends Origin>(origin: O, ...metadata: readonly unknown[]): O {
  if (origin.from === "derived") return origin;
  let peersKeys: string[] | undefined;
  // Lists of all keys would be garbage at once: a server starts with tens of thousands of objects.
  const look = (map: unknown) => {
    if (typeof map !== "object" || map === null) return;
    for (const name in map) {
      const own = ownKey(name);
      if (own !== name) (peersKeys ??= []).push(own);
    }
  };
  for (const one of metadata) {
    look(member(one, "labels"));
    look(member(one, "annotations"));
  }
  return peersKeys === undefined ? origin : { ...origin, peersKeys };
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** A label or annotation in the spelling of its object's author. */
export function spelledKey(origin: Origin, key: string): string {
  return origin.from !== "derived" && origin.peersKeys?.includes(key) === true ? peersKey(key) : key;
}

/** A tree of JSON with fields, labels and values in Istio's spelling. */
export function inPeersSpelling(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(inPeersSpelling);
  if (typeof tree === "string") return PEERS_VALUES.get(tree) ?? peersKey(tree);
  if (typeof tree !== "object" || tree === null) return tree;
  return Object.fromEntries(
    Object.entries(tree).map(([key, value]) => [
      PEERS_FIELDS.get(key) ?? peersKey(key),
      key === "security.mesh.io/tlsMode" && value === "mesh" ? "istio" : inPeersSpelling(value),
    ]),
  );
}
