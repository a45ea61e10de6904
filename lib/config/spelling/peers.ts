/**
 * Our spelling turned into Istio's: for who wrote an object so, and is shown what was read of it.
 *
 * @module
 */
import { FIELD_SPELLINGS, PLAIN_KEYS, VALUE_SPELLINGS } from "./spelling.ts";

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
