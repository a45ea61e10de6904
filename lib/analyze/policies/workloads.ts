/**
 * Whether labels select anything known: workloads of manifests, WorkloadEntries and WorkloadGroups.
 *
 * @module
 */
import { carriesLabels } from "../../config/schema/labels.ts";
import type { WorkloadFact } from "../../config/facts/view.ts";
import type { StringMap } from "../../config/kinds/kinds.ts";
import type { Severity } from "../../finding/finding.ts";
import type { AnalysisReader } from "../reader/reader.ts";

/**
 * Whether a namespace has something with these labels. No labels: anything at all.
 *
 * @param accept Narrows which workloads of manifests count. Default: all.
 */
export function hasWorkload(
  namespace: string,
  labels: StringMap,
  read: AnalysisReader,
  accept: (workload: WorkloadFact) => boolean = () => true,
): boolean {
  if (read.workloads(namespace, labels).some(accept)) return true;
  const carries = (own: StringMap) => carriesLabels(own, labels);
  const entry = read.oldestSharing(
    "workloadEntry",
    namespace,
    [labels],
    ({ meta, spec }) => carries({ ...meta.labels, ...spec.labels }),
  );
  return entry !== undefined ||
    read.objectsIn("WorkloadGroup", namespace).some(({ spec }) => carries(spec.metadata?.labels ?? {}));
}

/**
 * The severity of a selector without known workloads; undefined: nothing is reported. The rule is common to all kinds:
 * an error if the whole mesh is known, a warning if manifests show workloads in the object's own namespace, and an info
 * if manifests show workloads only elsewhere in the object's scope.
 *
 * @param scope The namespaces whose workloads the object may select.
 */
export function severityOfNoWorkload(
  namespace: string,
  scope: readonly string[],
  read: AnalysisReader,
): Severity | undefined {
  if (read.settings.whole === true) return read.isListUnknown("workloads") ? undefined : "error";
  if (read.workloads(namespace).length > 0) return "warning";
  return scope.some((one) => read.workloads(one).length > 0) ? "info" : undefined;
}

/**
 * Whether labels select nothing known in some namespaces. False if no manifest there shows a workload: known virtual
 * machines prove nothing about pods.
 */
export function selectsNone(namespaces: readonly string[], labels: StringMap, read: AnalysisReader): boolean {
  return Object.keys(labels).length > 0 && namespaces.some((one) => read.workloads(one).length > 0) &&
    !namespaces.some((one) => hasWorkload(one, labels, read));
}

/** `app=cart, version=v1`. */
export function shownLabels(labels: StringMap): string {
  return Object.entries(labels).map(([key, value]) => `${key}=${value}`).join(", ");
}
