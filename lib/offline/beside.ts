/**
 * Whether a proxy runs beside a workload, as far as texts say. The answer for pods comes from the orchestrator, or else
 * from the decision that injection would make. The answer for other workloads comes from what their labels and accounts
 * say about mutual TLS. Translation uses the same rule.
 *
 * @module
 */
import {
  asksForInjection,
  isAmbientNamespace,
  isGatewayWorkload,
  isProxyContainer,
  ownInjection,
} from "../analyze/manifests/membership.ts";
import type { Fact, WorkloadKind } from "../config/facts/types.ts";
import { type Labels, takesHbone, TLS_MODE_LABEL, tlsModeOf } from "../registry/labels.ts";

/** Whether the pods of a workload have a proxy; undefined: nothing says. */
export function runsBesidePods(
  workload: Fact<WorkloadKind>,
  namespaceLabels: Labels | undefined,
): boolean | undefined {
  const { labels, containers, hostNetwork, running, phase } = workload.spec;
  if (containers.some(isProxyContainer)) return true;
  if (labels[TLS_MODE_LABEL] !== undefined) return acceptsMeshTls(labels, "");
  // Injection leaves a container and a label in the pod. Both would be in the orchestrator's text of the pod.
  if (hostNetwork || running !== undefined || phase !== undefined) return false;
  const own = ownInjection(workload.spec);
  if (own !== undefined) return own;
  if (isGatewayWorkload(workload)) return true;
  return isAmbientNamespace(namespaceLabels) ? undefined : asksForInjection(namespaceLabels);
}

/** Whether a workload other than a pod has a proxy; undefined: nothing says. */
export function runsBeside(labels: Labels, serviceAccount: string): boolean | undefined {
  if (labels[TLS_MODE_LABEL] === undefined && serviceAccount === "" && !takesHbone(labels)) return undefined;
  return acceptsMeshTls(labels, serviceAccount);
}

function acceptsMeshTls(labels: Labels, serviceAccount: string): boolean {
  return tlsModeOf(labels, serviceAccount) === "mesh" || takesHbone(labels);
}
