/**
 * Annotations of the mesh's domains without a meaning on any kind.
 *
 * @module
 */
import { WORKLOAD_KINDS } from "../../config/facts/workload_data.ts";
import type { WorkloadFact } from "../../config/facts/view.ts";
import type { Origin } from "../../finding/origin.ts";
import { istioKey, spelledKey } from "../../config/spelling/istio.ts";
import { KINDS } from "../../config/kinds/kinds.ts";
import { nearestName } from "../../kernel/text/nearest.ts";
import type { Analyzer, ReportMistake, SubjectKind } from "../analyzer.ts";
import { KNOWN_ANNOTATIONS } from "./known.ts";

/** Kinds whose annotations are checked. */
const LOOKED_AT: readonly SubjectKind[] = [...KINDS, "Service", "Namespace", ...WORKLOAD_KINDS];

/** An analyzer for each kind. */
export const UNKNOWN_ANNOTATIONS: readonly Analyzer[] = LOOKED_AT.map((kind) => ({
  kind,
  reports: ["unknown-annotation"],
  analyze: (subject, _read, report) => {
    lookAt(subject.meta.annotations, "metadata", subject.origin, report);
    if (!isTemplate(subject)) return;
    const template = subject.kind === "CronJob" ? "spec.jobTemplate.spec.template" : "spec.template";
    lookAt(subject.spec.annotations, `${template}.metadata`, subject.origin, report);
  },
}));

/** Whether the pods' annotations are separate from the object's own annotations. */
function isTemplate(subject: { readonly kind: string }): subject is WorkloadFact {
  return subject.kind !== "Pod" && (WORKLOAD_KINDS as readonly string[]).includes(subject.kind);
}

/** Matches `mesh.io/x` and `sidecar.mesh.io/x`, but no foreign domain with the same ending. */
const OWN = /^(?:[a-z0-9-]+\.)*mesh\.io\//;

function lookAt(
  annotations: Readonly<Record<string, string>>,
  at: string,
  origin: Origin,
  report: ReportMistake,
): void {
  for (const name of Object.keys(annotations)) {
    if (!OWN.test(name) || KNOWN_ANNOTATIONS.has(name)) continue;
    const closest = nearestName(name, KNOWN_ANNOTATIONS.keys());
    const spelled = spelledKey(origin, name);
    const meant = closest === undefined || spelled === name ? closest : istioKey(closest);
    report("warning", "unknown-annotation", {
      field: `${at}.annotations[${JSON.stringify(spelled)}]`,
      value: spelled,
      expected: `an annotation that is known${meant === undefined ? "" : `; did you mean ${meant}?`}`,
    });
  }
}
