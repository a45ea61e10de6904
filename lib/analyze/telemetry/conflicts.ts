/**
 * Telemetries that want the same workloads.
 *
 * @module
 */
import type { StringMap } from "../../config/kinds/kinds.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import { selectsNone } from "../policies/workloads.ts";
import { isBefore } from "../reader/groups.ts";
import type { AnalysisReader } from "../reader/reader.ts";

type TelemetryObject = ConfigObject<"Telemetry">;

/** See the module. */
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
  const other = read.withoutSelector("telemetry", telemetry.meta.namespace).find(({ key }) => key !== telemetry.key);
  if (other === undefined) return;
  const isLoser = isBefore(other, telemetry);
  report(isLoser ? "error" : "warning", "several-default-telemetries", {
    field: "spec.selector",
    expected: `a selector, since ${other.meta.name} is for the whole namespace too`,
    others: [other.key],
    ...isLoser ? {} : { effect: `This one is the oldest, so it holds, and ${other.meta.name} does not.` },
  });
}

function lookForShared(telemetry: TelemetryObject, read: AnalysisReader, report: ReportMistake): void {
  const labels = labelsOf(telemetry);
  if (selectsNone([telemetry.meta.namespace], labels, read)) return;
  const found = ofOneWorkload(telemetry, labels, read);
  if (found === undefined) return;
  const [other, which] = found;
  const isLoser = isBefore(other, telemetry);
  report(isLoser ? "error" : "warning", "telemetries-of-one-workload", {
    field: "spec.selector.matchLabels",
    value: labels,
    expected: `labels that no workload of ${other.meta.name} has (${which} both)`,
    others: [other.key],
    ...isLoser
      ? {}
      : { effect: `Both act on those workloads; where they say the same, ${other.meta.name}, the younger, decides.` },
  });
}

/** Another one that selects a workload too: by their words alone, or one that is known. */
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
  const other = oldest(labels, (theirs) => carries(labels, theirs) || carries(theirs, labels));
  if (other !== undefined) {
    const narrower = carries(labels, labelsOf(other)) ? "this one" : other.meta.name;
    return [other, `all that ${narrower} selects have`];
  }
  for (const { kind, meta, spec } of read.workloads(namespace, labels)) {
    const found = oldest(spec.labels, (theirs) => carries(spec.labels, theirs));
    if (found !== undefined) return [found, `${kind} ${meta.name} has`];
  }
  return undefined;
}

function carries(labels: StringMap, wanted: StringMap): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}
