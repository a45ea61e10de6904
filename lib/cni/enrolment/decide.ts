/**
 * Which pods are in ambient mode: one decision for the plugin, which sees a pod at its start, and for the node agent,
 * which sees every later change. Pure, and light, because a container runtime waits for the plugin.
 *
 * @module
 */
import { type EnablementSelector, selectorMatches } from "./label_selector.ts";

/** The rules of a mesh and of a node. */
export interface EnrolmentRules {
  /** A pod that any of these selects is in ambient mode (AMBIENT_ENABLEMENT_SELECTOR). */
  readonly selectors: readonly EnablementSelector[];
  /** Namespaces whose pods are never in ambient mode (EXCLUDE_NAMESPACES). */
  readonly excludeNamespaces: readonly string[];
}

/** The decision, with its reason for people. */
export interface Enrolment {
  readonly isIn: boolean;
  readonly why: string;
}

/**
 * Label that puts a pod, or the pods of a namespace, into ambient mode. In either spelling, `mesh.io` or `istio.io`.
 */
export const MODE_LABEL = "istio.io/dataplane-mode";

/**
 * The selectors without a setting: a pod with the label, or a pod of a namespace with the label unless the pod says
 * `none`. Any other value of the pod's label leaves the decision to the namespace.
 */
export const DEFAULT_SELECTORS: readonly EnablementSelector[] = [
  { podSelector: { matchLabels: { [MODE_LABEL]: "ambient" } } },
  {
    namespaceSelector: { matchLabels: { [MODE_LABEL]: "ambient" } },
    podSelector: { matchExpressions: [{ key: MODE_LABEL, operator: "NotIn", values: ["none"] }] },
  },
];

/** Annotations that injection leaves on a pod, this project's first. */
export const SIDECAR_STATUS = ["sidecar.mesh.io/status", "sidecar.istio.io/status"] as const;

/** Label of the node tunnel's own pods. */
const TUNNEL_LABEL = { key: "app", value: "ztunnel" };

/** The facts of a pod that the decision reads. */
export interface EnrolmentFacts {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly hostNetwork: boolean;
  /** All containers have ended for good. */
  readonly hasEnded: boolean;
}

/** Decides about a pod. */
export function enrolment(
  pod: EnrolmentFacts,
  namespaceLabels: Readonly<Record<string, string>>,
  rules: EnrolmentRules,
): Enrolment {
  const out = (why: string): Enrolment => ({ isIn: false, why });
  // A pod on the node's network shares the node's rules. Rules for the pod would redirect the whole node.
  if (pod.hostNetwork) return out("it uses the node's own network");
  if (pod.hasEnded) return out("it has ended");
  const sidecar = SIDECAR_STATUS.find((key) => Object.hasOwn(pod.annotations, key));
  if (sidecar !== undefined) return out(`it has a sidecar (annotation ${sidecar})`);
  if (rules.excludeNamespaces.includes(pod.namespace)) return out("its namespace is excluded");
  if (pod.labels[TUNNEL_LABEL.key] === TUNNEL_LABEL.value) return out("it is a node tunnel");
  const at = rules.selectors.findIndex(({ podSelector, namespaceSelector }) =>
    selectorMatches(podSelector, pod.labels) && selectorMatches(namespaceSelector, namespaceLabels)
  );
  return at < 0 ? out("no enablement selector selects it") : { isIn: true, why: `enablement selector ${at + 1}` };
}
