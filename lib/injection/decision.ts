/**
 * Decides whether a pod gets a proxy.
 *
 * @module
 */
import { meetsLabelSelector } from "../config/mesh/label_selector.ts";
import type { InjectionConfig, InjectionRequest } from "./types.ts";
import { ownTexts } from "./spelling.ts";

/** Namespaces of the orchestrator's own programs. Istio leaves the same ones alone. */
const SYSTEM_NAMESPACES = ["kube-system", "kube-public", "kube-node-lease", "local-path-storage"];

/** Label and annotation by which a user decides. */
const INJECT = "sidecar.mesh.io/inject";

/** Values that mean yes, as YAML 1.1 has them; all others but the empty one mean no. */
const YES = /^(?:y|yes|true|on)$/i;

/** Why the pod gets no proxy; undefined: it gets one. A label goes before an annotation, "never" before "always". */
export function whyNot(
  { pod, namespace }: Pick<InjectionRequest, "pod" | "namespace">,
  config: InjectionConfig,
): string | undefined {
  if (pod.spec.hostNetwork === true) return "it uses the node's own network";
  if (SYSTEM_NAMESPACES.includes(namespace)) return `namespace ${namespace} is the orchestrator's own`;
  const labels = ownTexts(pod.metadata.labels);
  const inLabel = labels[INJECT] !== undefined;
  const written = labels[INJECT] ?? ownTexts(pod.metadata.annotations)[INJECT] ?? "";
  if (written !== "") {
    const where = inLabel ? "label" : "annotation";
    return YES.test(written) ? undefined : `its ${where} ${INJECT} is ${JSON.stringify(written.slice(0, 63))}`;
  }
  if (config.neverInjectSelector.some((one) => meetsLabelSelector(one, labels))) return "neverInjectSelector holds";
  if (config.alwaysInjectSelector.some((one) => meetsLabelSelector(one, labels))) return undefined;
  return config.policy === "enabled" ? undefined : "the injector's policy is disabled";
}
