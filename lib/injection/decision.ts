/**
 * Decides whether a pod gets a proxy.
 *
 * @module
 */
import { meetsLabelSelector } from "../config/mesh/label_selector.ts";
import type { InjectionConfig, InjectionRequest } from "./types.ts";
import { ownTexts } from "./spelling.ts";

/** Namespaces of the orchestrator's own programs. Istio exempts the same namespaces. */
export const SYSTEM_NAMESPACES: readonly string[] = [
  "kube-system",
  "kube-public",
  "kube-node-lease",
  "local-path-storage",
];

/** Label and annotation with the user's decision. */
const INJECT = "sidecar.mesh.io/inject";

/** Values that mean yes in YAML 1.1. All other values mean no, except the empty value. */
export const YES = /^(?:y|yes|true|on)$/i;

/**
 * Why the pod gets no proxy; undefined: the pod gets a proxy. A label has precedence over an annotation, and "never"
 * over "always".
 */
export function whyNot(
  { pod, namespace }: Pick<InjectionRequest, "pod" | "namespace">,
  config: InjectionConfig,
): string | undefined {
  if (pod.spec.hostNetwork === true) return "the pod uses the node's own network";
  if (SYSTEM_NAMESPACES.includes(namespace)) return `namespace ${namespace} is the orchestrator's own`;
  const labels = ownTexts(pod.metadata.labels);
  const inLabel = labels[INJECT] !== undefined;
  const written = labels[INJECT] ?? ownTexts(pod.metadata.annotations)[INJECT] ?? "";
  if (written !== "") {
    const where = inLabel ? "label" : "annotation";
    return YES.test(written) ? undefined : `the pod's ${where} ${INJECT} is ${JSON.stringify(written.slice(0, 63))}`;
  }
  if (config.neverInjectSelector.some((one) => meetsLabelSelector(one, labels))) return "neverInjectSelector holds";
  if (config.alwaysInjectSelector.some((one) => meetsLabelSelector(one, labels))) return undefined;
  return config.policy === "enabled" ? undefined : "the injector's policy is disabled";
}
