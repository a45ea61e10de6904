/**
 * Whether anything is known that labels select: workloads of manifests, workload entries and groups.
 *
 * @module
 */
import type { WorkloadFact } from "../../config/facts/view.ts";
import type { StringMap } from "../../config/kinds/kinds.ts";
import type { Severity } from "../../finding/finding.ts";
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
 * What follows for an object from workloads that are not known; undefined: nothing. One rule for all kinds: an error where
 * all of the mesh is known, a warning where manifests tell of workloads in the object's own namespace, and a thing to know
 * where they do so only elsewhere in its scope.
 *
 * @param scope The namespaces whose workloads the object may select.
 */
export function severityOfNoWorkload(
  namespace: string,
  scope: readonly string[],
  read: AnalysisReader,
): Severity | undefined {
  if (read.settings.whole === true) return read.knowsNo("workloads") ? undefined : "error";
  if (read.workloads(namespace).length > 0) return "warning";
  return scope.some((one) => read.workloads(one).length > 0) ? "info" : undefined;
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
