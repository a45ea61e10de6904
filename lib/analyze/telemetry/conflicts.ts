/**
 * Telemetries for the same workloads. A pair of such Telemetries is a single fact, reported only at the younger
 * Telemetry.
 *
 * @module
 */
import { carriesLabels } from "../../config/schema/labels.ts";
import type { StringMap } from "../../config/kinds/kinds.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import { selectsNone } from "../policies/workloads.ts";
import { isBefore } from "../reader/groups.ts";
import type { AnalysisReader } from "../reader/reader.ts";

type TelemetryObject = ConfigObject<"Telemetry">;

export const TELEMETRY_CONFLICTS: Analyzer<"Telemetry"> = {
  kind: "Telemetry",
  reports: ["several-default-telemetries", "telemetries-of-one-workload"],
  analyze: (telemetry, read, report) => {
    if (telemetry.spec.targetRef !== undefined || telemetry.spec.targetRefs !== undefined) return;
    if (Object.keys(labelsOf(telemetry)).length > 0) lookForShared(telemetry, read, report);
    else lookForDefaults(telemetry, read, report);
  },
};

function labelsOf({ spec: { selector } }: TelemetryObject): StringMap {
  return selector?.matchLabels ?? {};
}

function lookForDefaults(telemetry: TelemetryObject, read: AnalysisReader, report: ReportMistake): void {
  const [oldest] = read.withoutSelector("telemetry", telemetry.meta.namespace);
  if (oldest === undefined || oldest.key === telemetry.key) return;
  report("error", "several-default-telemetries", {
    field: "spec.selector",
    expected: `a selector, since ${oldest.meta.name} is for the whole namespace too`,
    others: [oldest.key],
    effect: `This one does nothing: ${oldest.meta.name} is the oldest, and holds.`,
  });
}

function lookForShared(telemetry: TelemetryObject, read: AnalysisReader, report: ReportMistake): void {
  const labels = labelsOf(telemetry);
  if (selectsNone([telemetry.meta.namespace], labels, read)) return;
  const found = ofOneWorkload(telemetry, labels, read);
  if (found === undefined) return;
  const [other, which] = found;
  if (!isBefore(other, telemetry)) return;
  // Both act, except where both set the same field. The author's intention is not known.
  report("warning", "telemetries-of-one-workload", {
    field: "spec.selector.matchLabels",
    value: labels,
    expected: `labels that no workload of ${other.meta.name} has (${which} both labels)`,
    others: [other.key],
    effect: `Both act on these workloads. If both set a field, this Telemetry decides, because it is younger.`,
  });
}

/** Another Telemetry that selects any of the workloads, by the selectors' text alone or by a known workload. */
function ofOneWorkload(
  telemetry: TelemetryObject,
  labels: StringMap,
  read: AnalysisReader,
): [other: TelemetryObject, which: string] | undefined {
  const { key, meta: { namespace } } = telemetry;
  const oldest = (shared: StringMap, test: (theirs: StringMap) => boolean) =>
    read.oldestSharing("telemetry", namespace, [shared], (other) => {
      const theirs = labelsOf(other);
      return other.key !== key && Object.keys(theirs).length > 0 && test(theirs);
    });
  const other = oldest(labels, (theirs) => carriesLabels(labels, theirs) || carriesLabels(theirs, labels));
  if (other !== undefined) {
    const narrower = carriesLabels(labels, labelsOf(other)) ? "this Telemetry" : `Telemetry ${other.meta.name}`;
    return [other, `all workloads of ${narrower} have`];
  }
  for (const { kind, meta, spec } of read.workloads(namespace, labels)) {
    const found = oldest(spec.labels, (theirs) => carriesLabels(spec.labels, theirs));
    if (found !== undefined) return [found, `${kind} ${meta.name} has`];
  }
  return undefined;
}
