/**
 * The entries of the mutating webhook configuration. They select the pods for which the API asks the injector.
 *
 * | Entry           | Namespace                          | Pod                                       |
 * | --------------- | ---------------------------------- | ----------------------------------------- |
 * | `rev.namespace` | `mesh.io/rev` names the revision   | does not opt out                          |
 * | `rev.object`    | has none of the labels             | `mesh.io/rev` names the revision          |
 * | `namespace`     | `mesh-injection: enabled`          | does not opt out                          |
 * | `object`        | has none of the labels             | `sidecar.mesh.io/inject: "true"`          |
 *
 * Each entry exists in this project's spelling and in Istio's. On a namespace or pod with labels in both spellings,
 * this project's labels count, so that no pod matches two entries; either spelling opts out.
 *
 * Labels in Istio's spelling also select the pod for Istio's injector, if the cluster has one. The API calls webhooks
 * in the order of their configurations' names, and `istio-...` comes before `mesh-...`: so the entries in Istio's
 * spelling leave out pods that Istio's injector has already changed. The API decides this without asking the server.
 * For pods of the other entries the injector itself looks for Istio's proxy, and adds no second proxy.
 *
 * Labels of a namespace do not select pods that the injector itself needs: with `failurePolicy: Fail`, the first server
 * could never start. So the server's namespace and the orchestrator's namespaces are exempt from entries by namespace.
 *
 * @module
 */
import { meetsLabelSelector } from "../config/mesh/label_selector.ts";
import type { LabelSelectorRequirement } from "../config/mesh/types.ts";
import { istioKey } from "../config/spelling/istio.ts";

/** The labels for choosing pods, in one spelling. */
interface ChoosingLabels {
  readonly revision: string;
  readonly injection: string;
  readonly inject: string;
}

/** The spelling of an entry: ours or Istio's. */
type EntrySpelling = "own" | "istio";

/** The selectors of one entry of the configuration. */
export interface InjectorEntry {
  /** Such as `rev.namespace.sidecar-injector.mesh.io`. */
  readonly name: string;
  readonly namespaceSelector: { readonly matchExpressions: readonly LabelSelectorRequirement[] };
  readonly objectSelector: { readonly matchExpressions: readonly LabelSelectorRequirement[] };
  /** Conditions on the pod beside its labels, in CEL. All must hold. Absent: no conditions. */
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
}

/** The server that the entries ask. */
export interface InjectorScope {
  /** `REVISION`; empty and `default`: the default revision. */
  readonly revision: string;
  /** The server's namespace. */
  readonly namespace: string;
}

/** The end of an entry's name, by spelling. */
export const INJECTOR_NAMES: Readonly<Record<EntrySpelling, string>> = {
  own: "sidecar-injector.mesh.io",
  istio: "sidecar-injector.istio.io",
};

/** Holds unless Istio's injector has changed the pod. */
const NOT_YET_INJECTED = {
  name: "not-injected-by-istio",
  expression: `!has(object.metadata.annotations) || !("${
    istioKey("sidecar.mesh.io/status")
  }" in object.metadata.annotations)`,
};

/** Namespaces of the orchestrator. */
const SYSTEM_NAMESPACES = ["kube-system", "kube-public", "kube-node-lease", "local-path-storage"];

const OWN: ChoosingLabels = {
  revision: "mesh.io/rev",
  injection: "mesh-injection",
  inject: "sidecar.mesh.io/inject",
};
const ISTIO: ChoosingLabels = {
  revision: istioKey(OWN.revision),
  injection: istioKey(OWN.injection),
  inject: istioKey(OWN.inject),
};

/** The entries for a server. Entries without a revision belong only to the default revision. */
export function injectorEntries(scope: InjectorScope): InjectorEntry[] {
  return [...entriesIn("own", scope), ...entriesIn("istio", scope)];
}

/**
 * Whether the entries make the API ask about a pod.
 *
 * @param labels Labels in the spelling of this project.
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
  const { revision: rev, injection, inject } = spelling === "own" ? OWN : ISTIO;
  const isDefault = revision === "" || revision === "default";
  const named = [isDefault ? "default" : revision];
  /**
   * An entry in Istio's spelling requires that this project's label is absent, because this project's label would
   * count.
   */
  const unlessOwn = (key: keyof ChoosingLabels) => spelling === "own" ? [] : [absent(OWN[key])];
  const unlabelled = [OWN, ISTIO].flatMap((labels) => [absent(labels.injection), absent(labels.revision)]);
  const exempt = notIn("kubernetes.io/metadata.name", [namespace, ...SYSTEM_NAMESPACES]);
  const willing = [notIn(OWN.inject, ["false"]), notIn(ISTIO.inject, ["false"])];
  const entry = (prefix: string, ofNamespace: Requirements, ofPod: Requirements): InjectorEntry => ({
    name: `${prefix}.${INJECTOR_NAMES[spelling]}`,
    namespaceSelector: { matchExpressions: ofNamespace },
    objectSelector: { matchExpressions: ofPod },
    ...(spelling === "istio" && { matchConditions: [NOT_YET_INJECTED] }),
  });
  const uninjected = [absent(OWN.injection), absent(ISTIO.injection)];
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
      ...[absent(OWN.revision), absent(ISTIO.revision)],
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
