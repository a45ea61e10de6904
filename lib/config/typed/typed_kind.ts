/**
 * Kinds in people's commands and addresses of pages: in any case, as singular, plural or short name, and in either
 * spelling.
 *
 * @module
 */
import { FACT_KINDS, type FactKind } from "../facts/types.ts";
import { type Kind, KINDS } from "../kinds/kinds.ts";
import { apiGroupOfKind, pluralOfKind, SHORT_NAMES, spellingsOfKind } from "../spelling/spelling.ts";

/** Further short names, only for our commands and pages; no API defines them. */
const OWN_SHORT_NAMES: Readonly<Record<string, Kind>> = {
  ...{ sc: "Sidecar", pc: "ProxyConfig", pf: "ProxyFilter", ef: "ProxyFilter", tm: "Telemetry", wp: "WasmPlugin" },
};

/** Short names of an orchestrator's own kinds. */
const FACT_SHORT_NAMES: Readonly<Record<string, FactKind>> = {
  ...{ svc: "Service", po: "Pod", deploy: "Deployment", sts: "StatefulSet", ds: "DaemonSet", rs: "ReplicaSet" },
  ...{ ns: "Namespace", no: "Node", cm: "ConfigMap", sa: "ServiceAccount", ing: "Ingress", cj: "CronJob" },
};

// In a map the last of several equal words holds: the mesh's own kinds come last.
const KINDS_BY_WORD: ReadonlyMap<string, Kind> = new Map([
  ...KINDS.toReversed().flatMap((kind) => typedWordsOf(kind).map((word) => [word, kind] as const)),
  ...Object.entries(SHORT_NAMES).map(([kind, word]) => [word, kind as Kind] as const),
  ...Object.entries(OWN_SHORT_NAMES),
]);

const FACT_KINDS_BY_WORD: ReadonlyMap<string, FactKind> = new Map([
  ...FACT_KINDS.flatMap((kind) => wordsOf(kind).map((word) => [word, kind] as const)),
  ...Object.entries(FACT_SHORT_NAMES),
]);

/** The words of a kind: its name, each spelling, and each spelling with the group as in `gateways.networking.mesh.io`. */
function typedWordsOf(kind: Kind): string[] {
  const groups = new Set([apiGroupOfKind(kind, "mesh.io"), apiGroupOfKind(kind, "istio.io")]);
  const words = spellingsOfKind(kind).flatMap(wordsOf);
  return [kind.toLowerCase(), ...words, ...words.flatMap((word) => [...groups].map((group) => `${word}.${group}`))];
}

function wordsOf(written: string): string[] {
  return [written.toLowerCase(), pluralOfKind(written)];
}

/** The kind of configuration for a word; undefined: none. */
export function typedKind(word: string): Kind | undefined {
  return KINDS_BY_WORD.get(word.toLowerCase());
}

/** Another kind that a word may mean: `gateway` is the name of two kinds. Undefined: there is no other. */
export function otherTypedKind(word: string): Kind | undefined {
  const first = typedKind(word);
  return KINDS.find((kind) => kind !== first && spellingsOfKind(kind).flatMap(wordsOf).includes(word.toLowerCase()));
}

/** A kind as people type it, without ambiguity: `gateway.gateway.networking.k8s.io`. */
export function unambiguousWord(kind: Kind): string {
  const [spelling = kind] = spellingsOfKind(kind);
  return typedKind(spelling) === kind ? kind : `${spelling.toLowerCase()}.${apiGroupOfKind(kind)}`;
}

/** The kind of fact for a word; undefined: none. */
export function typedFactKind(word: string): FactKind | undefined {
  return FACT_KINDS_BY_WORD.get(word.toLowerCase());
}

/** A key (`kind/namespace/name`), or a key's beginning, with the kind spelled as in keys; other text is unchanged. */
export function typedKey(text: string): string {
  const slash = text.indexOf("/");
  if (slash < 0) return text;
  const word = text.slice(0, slash);
  return `${typedKind(word) ?? typedFactKind(word) ?? word}${text.slice(slash)}`;
}
