/**
 * Whether anything is known that labels select: workloads of manifests, workload entries and groups.
 *
 * @module
 */
import type { WorkloadFact } from "../../config/facts/view.ts";
import type { StringMap } from "../../config/kinds/kinds.ts";
import type { AnalysisReader } from "../reader/reader.ts";

/**
 * Whether a namespace has something with these labels; none: anything at all.
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
  const carries = (own: StringMap) => Object.entries(labels).every(([key, value]) => own[key] === value);
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
 * Whether labels select nothing that is known in some namespaces. Not where no manifest tells of a workload there:
 * known virtual machines say nothing of pods.
 */
export function selectsNone(namespaces: readonly string[], labels: StringMap, read: AnalysisReader): boolean {
  return Object.keys(labels).length > 0 && namespaces.some((one) => read.workloads(one).length > 0) &&
    !namespaces.some((one) => hasWorkload(one, labels, read));
}

/** `app=cart, version=v1`. */
export function shownLabels(labels: StringMap): string {
  return Object.entries(labels).map(([key, value]) => `${key}=${value}`).join(", ");
}
