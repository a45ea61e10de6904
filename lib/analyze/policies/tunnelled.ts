/**
 * Workloads in ambient mode among the workloads of an AuthorizationPolicy.
 *
 * @module
 */
import type { WorkloadFact } from "../../config/facts/view.ts";
import type { Fact } from "../../config/facts/types.ts";
import type { AuthorizationPolicy } from "../../mesh/authorization_policy.ts";
import { selectionOf } from "../../mesh/selection/selection.ts";
import { isAmbient, isAmbientNamespace, isGatewayWorkload } from "../manifests/membership.ts";
import type { AnalysisReader } from "../reader/reader.ts";

/** Whether the node's tunnel enforces the policies of a workload. */
export function isTunnelled(workload: WorkloadFact, read: AnalysisReader): boolean {
  return isAmbient(workload, read) && !isGatewayWorkload(workload);
}

/**
 * The first workload of a policy in a tunnel; else the first namespace in ambient mode without known workloads, for a
 * policy without a selector.
 */
export function firstTunnelled(
  policy: AuthorizationPolicy,
  read: AnalysisReader,
): WorkloadFact | Fact<"Namespace"> | undefined {
  const { labels } = selectionOf(policy);
  for (const namespace of namespacesOf(policy, read)) {
    const found = read.workloads(namespace, labels).find((one) => isTunnelled(one, read));
    if (found !== undefined) return found;
  }
  if (Object.keys(labels).length > 0) return undefined;
  for (const name of namespacesOf(policy, read)) {
    const namespace = read.namespaceFact(name);
    if (namespace && isAmbientNamespace(namespace.meta.labels) && read.workloads(name).length === 0) return namespace;
  }
  return undefined;
}

/** The namespaces of the workloads of a policy. */
export function namespacesOf({ meta: { namespace } }: AuthorizationPolicy, read: AnalysisReader): readonly string[] {
  return namespace === read.meshConfig.rootNamespace ? read.namespaceNames() : [namespace];
}
