/**
 * The entries of the mutating webhook configuration, which select the pods for which the API asks the injector.
 *
 * | Entry           | Namespace                          | Pod                                       |
 * | --------------- | ---------------------------------- | ----------------------------------------- |
 * | `rev.namespace` | `mesh.io/rev` names the revision   | does not opt out                          |
 * | `rev.object`    | has none of the labels             | `mesh.io/rev` names the revision          |
 * | `namespace`     | `mesh-injection: enabled`          | does not opt out                          |
 * | `object`        | has none of the labels             | `sidecar.mesh.io/inject: "true"`          |
 *
 * Each comes in our spelling and in Istio's. Of a namespace or pod that has labels of both, ours count, so that no pod meets
 * two entries; either spelling opts out.
 *
 * A label of a namespace says nothing of pods that the injector itself needs: with `failurePolicy: Fail`, no server could
 * start where none runs. So the server's namespace and those of the orchestrator are exempt from entries that go by it.
 *
 * @module
 */
import { meetsLabelSelector } from "../config/mesh/label_selector.ts";
import type { LabelSelectorRequirement } from "../config/mesh/types.ts";
import { peersKey } from "../config/spelling/peers.ts";

/** One spelling of the labels that choose pods. */
interface ChoosingLabels {
  readonly revision: string;
  readonly injection: string;
  readonly inject: string;
}

/** The spelling of an entry: ours or Istio's. */
type EntrySpelling = "own" | "peers";

/** The choice of one entry of the configuration. */
export interface InjectorEntry {
  /** Such as `rev.namespace.sidecar-injector.mesh.io`. */
  readonly name: string;
  readonly namespaceSelector: { readonly matchExpressions: readonly LabelSelectorRequirement[] };
  readonly objectSelector: { readonly matchExpressions: readonly LabelSelectorRequirement[] };
}

/** The server that entries are for. */
export interface InjectorScope {
  /** `REVISION`; empty and `default`: the default revision. */
  readonly revision: string;
  /** The server's namespace. */
  readonly namespace: string;
}

/** Ends of the names of the entries, by their spelling. */
export const INJECTOR_NAMES: Readonly<Record<EntrySpelling, string>> = {
  own: "sidecar-injector.mesh.io",
  peers: "sidecar-injector.istio.io",
};

/** Namespaces of the orchestrator. */
const SYSTEM_NAMESPACES = ["kube-system", "kube-public", "kube-node-lease", "local-path-storage"];

const OWN: ChoosingLabels = {
  revision: "mesh.io/rev",
  injection: "mesh-injection",
  inject: "sidecar.mesh.io/inject",
};
const PEERS: ChoosingLabels = {
  revision: peersKey(OWN.revision),
  injection: peersKey(OWN.injection),
  inject: peersKey(OWN.inject),
};

/** The entries for a server. Those without a revision are for the default one alone. */
export function injectorEntries(scope: InjectorScope): InjectorEntry[] {
  return [...entriesIn("own", scope), ...entriesIn("peers", scope)];
}

/**
 * Whether the API, with these entries, asks about a pod.
 *
 * @param labels In our spelling.
 */
export function isAskedFor(
  scope: InjectorScope,
  namespaceLabels: Readonly<Record<string, string>>,
  podLabels: Readonly<Record<string, string>>,
): boolean {
  return entriesIn("own", scope).some(({ namespaceSelector, objectSelector }) =>
    meetsLabelSelector(namespaceSelector, namespaceLabels) && meetsLabelSelector(objectSelector, podLabels)
  );
}

function entriesIn(spelling: EntrySpelling, { revision, namespace }: InjectorScope): InjectorEntry[] {
  const { revision: rev, injection, inject } = spelling === "own" ? OWN : PEERS;
  const isDefault = revision === "" || revision === "default";
  const named = [isDefault ? "default" : revision];
  /** Absent where the entry is in Istio's spelling: ours would count. */
  const unlessOwn = (key: keyof ChoosingLabels) => spelling === "own" ? [] : [absent(OWN[key])];
  const unlabelled = [OWN, PEERS].flatMap((labels) => [absent(labels.injection), absent(labels.revision)]);
  const exempt = notIn("kubernetes.io/metadata.name", [namespace, ...SYSTEM_NAMESPACES]);
  const willing = [notIn(OWN.inject, ["false"]), notIn(PEERS.inject, ["false"])];
  const entry = (prefix: string, ofNamespace: Requirements, ofPod: Requirements): InjectorEntry => ({
    name: `${prefix}.${INJECTOR_NAMES[spelling]}`,
    namespaceSelector: { matchExpressions: ofNamespace },
    objectSelector: { matchExpressions: ofPod },
  });
  const uninjected = [absent(OWN.injection), absent(PEERS.injection)];
  const ofRevision = [
    entry("rev.namespace", [isIn(rev, named), ...unlessOwn("revision"), ...uninjected, exempt], willing),
    entry("rev.object", unlabelled, [...willing, isIn(rev, named), ...unlessOwn("revision")]),
  ];
  if (!isDefault) return ofRevision;
  return [
    ...ofRevision,
    entry("namespace", [isIn(injection, ["enabled"]), ...unlessOwn("injection"), exempt], willing),
    entry("object", unlabelled, [
      ...[isIn(inject, ["true"]), ...unlessOwn("inject")],
      ...[absent(OWN.revision), absent(PEERS.revision)],
    ]),
  ];
}

type Requirements = readonly LabelSelectorRequirement[];

function isIn(key: string, values: readonly string[]): LabelSelectorRequirement {
  return { key, operator: "In", values };
}

function notIn(key: string, values: readonly string[]): LabelSelectorRequirement {
  return { key, operator: "NotIn", values };
}

function absent(key: string): LabelSelectorRequirement {
  return { key, operator: "DoesNotExist" };
}
