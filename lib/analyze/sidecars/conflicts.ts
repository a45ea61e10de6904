/**
 * Sidecars for the same workloads. A pair of such Sidecars is a single fact, reported only at the younger Sidecar. The
 * younger Sidecar is not in force.
 *
 * @module
 */
import { carriesLabels } from "../../config/schema/labels.ts";
import type { StringMap } from "../../config/kinds/kinds.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import { isAmbient } from "../manifests/membership.ts";
import { selectsNone } from "../policies/workloads.ts";
import { isBefore } from "../reader/groups.ts";
import type { AnalysisReader } from "../reader/reader.ts";

export const SIDECAR_CONFLICTS: Analyzer<"Sidecar"> = {
  kind: "Sidecar",
  reports: ["several-default-sidecars", "sidecars-of-one-workload"],
  analyze: (sidecar, read, report) => {
    const others = read.objectsIn("Sidecar", sidecar.meta.namespace).filter(({ key }) => key !== sidecar.key);
    const labels = labelsOf(sidecar);
    if (Object.keys(labels).length === 0) {
      const same = others.filter((other) => Object.keys(labelsOf(other)).length === 0);
      if (same.length > 0) reportDefaults(sidecar, same, report);
    } else if (!selectsNone([sidecar.meta.namespace], labels, read)) {
      lookForShared(sidecar, labels, others, read, report);
    }
  },
};

function labelsOf({ spec: { workloadSelector } }: ConfigObject<"Sidecar">): StringMap {
  return workloadSelector?.labels ?? {};
}

function reportDefaults(
  sidecar: ConfigObject<"Sidecar">,
  same: readonly ConfigObject<"Sidecar">[],
  report: ReportMistake,
): void {
  const winner = same.reduce((first, other) => isBefore(other, first) ? other : first, sidecar);
  if (winner === sidecar) return;
  const names = same.map(({ meta }) => meta.name).join(", ");
  report("error", "several-default-sidecars", {
    field: "spec.workloadSelector",
    expected: `a workloadSelector, since ${names} is for the whole namespace too`,
    others: same.map(({ key }) => key),
    effect: `${winner.meta.name} is the oldest Sidecar, so it is in force, and this one is not.`,
  });
}

/** The most Sidecars of a namespace compared with a Sidecar. */
const MOST_COMPARED = 200;

function lookForShared(
  sidecar: ConfigObject<"Sidecar">,
  labels: StringMap,
  others: readonly ConfigObject<"Sidecar">[],
  read: AnalysisReader,
  report: ReportMistake,
): void {
  for (const other of others.slice(0, MOST_COMPARED)) {
    const theirs = labelsOf(other);
    if (Object.keys(theirs).length === 0 || !isBefore(other, sidecar)) continue;
    const [shared] = read.workloads(sidecar.meta.namespace, { ...labels, ...theirs })
      .filter((one) => carriesLabels(one.spec.labels, labels) && !isAmbient(one, read));
    const isEqual = carriesLabels(labels, theirs) && carriesLabels(theirs, labels);
    if (shared === undefined && !isEqual) continue;
    const which = shared === undefined ? "the same workloads" : `${shared.kind} ${shared.meta.name}`;
    report("error", "sidecars-of-one-workload", {
      field: "spec.workloadSelector.labels",
      value: labels,
      expected: `labels that no workload of ${other.meta.name} has (both Sidecars select ${which})`,
      others: [other.key],
    });
    return;
  }
}
