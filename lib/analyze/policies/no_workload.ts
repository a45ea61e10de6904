/**
 * Policies that are for no workload that is known.
 *
 * @module
 */
import type { StringMap } from "../../config/kinds/kinds.ts";
import type { Analyzer } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";

/** See the module. */
export const POLICY_WORKLOADS: Analyzer<"AuthorizationPolicy"> = {
  kind: "AuthorizationPolicy",
  reports: ["policy-without-workload"],
  analyze: ({ meta: { namespace }, spec: { selector, targetRef, targetRefs } }, read, report) => {
    if (targetRef !== undefined || targetRefs !== undefined) return;
    const isOfMesh = namespace === read.meshConfig.rootNamespace;
    const labels = selector?.matchLabels ?? {};
    const hasLabels = Object.keys(labels).length > 0;
    if (isOfMesh ? !hasLabels : knowsNothing(namespace, hasLabels, read)) return;
    if (isOfMesh && read.knowsNo("workloads")) return;
    const namespaces = isOfMesh ? read.namespaceNames() : [namespace];
    if (namespaces.some((one) => hasWorkload(one, labels, read))) return;
    const shown = Object.entries(labels).map(([key, value]) => `${key}=${value}`).join(", ");
    report("warning", "policy-without-workload", {
      field: hasLabels ? "spec.selector.matchLabels" : "metadata.namespace",
      value: hasLabels ? labels : namespace,
      expected: hasLabels ? `labels of a workload (no known one has ${shown})` : "a namespace that has workloads",
    });
  },
};

/** Whether nothing follows from what is missing: of a namespace of which no workload is known, only where others are. */
function knowsNothing(namespace: string, hasLabels: boolean, read: AnalysisReader): boolean {
  return hasLabels ? !hasWorkload(namespace, {}, read) : read.knowsNo("workloads");
}

function hasWorkload(namespace: string, labels: StringMap, read: AnalysisReader): boolean {
  if (read.workloads(namespace, labels).length > 0) return true;
  const carries = (own: StringMap) => Object.entries(labels).every(([key, value]) => own[key] === value);
  const entry = read.oldestSharing(
    "workloadEntry",
    namespace,
    labels,
    ({ meta, spec }) => carries({ ...meta.labels, ...spec.labels }),
  );
  return entry !== undefined ||
    read.objectsIn("WorkloadGroup", namespace).some(({ spec }) => carries(spec.metadata?.labels ?? {}));
}
