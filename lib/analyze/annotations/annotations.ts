/**
 * Annotations of an orchestrator's objects: of another kind, with a wrong value, deprecated, not settled.
 *
 * @module
 */
import type { Fact, FactKind } from "../../config/facts/types.ts";
import { WORKLOAD_KINDS, type WorkloadKind } from "../../config/facts/workload_data.ts";
import { joinPath } from "../../config/schema/field.ts";
import { istioKey, spelledKey } from "../../config/spelling/istio.ts";
import type { Origin } from "../../finding/origin.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";
import { KNOWN_ANNOTATIONS } from "./known.ts";
import {
  type CheckAnnotation,
  isBoolean,
  isCount,
  isInterception,
  isPort,
  isPortList,
  isPortListOrAll,
  isProxySettings,
  isQuantity,
  isRangeList,
  isRangeListOrAll,
} from "./values.ts";

/** Checks of values by name, in our spelling; others may hold anything. */
const ANNOTATION_VALUES: ReadonlyMap<string, CheckAnnotation> = new Map([
  ["prometheus.mesh.io/merge-metrics", isBoolean],
  ["proxy.mesh.io/config", isProxySettings],
  ["sidecar.mesh.io/interceptionMode", isInterception],
  ["sidecar.mesh.io/proxyCPU", isQuantity],
  ["sidecar.mesh.io/proxyCPULimit", isQuantity],
  ["sidecar.mesh.io/proxyMemory", isQuantity],
  ["sidecar.mesh.io/proxyMemoryLimit", isQuantity],
  ["status.sidecar.mesh.io/port", isPort],
  ["readiness.status.sidecar.mesh.io/initialDelaySeconds", isCount],
  ["readiness.status.sidecar.mesh.io/periodSeconds", isCount],
  ["readiness.status.sidecar.mesh.io/failureThreshold", isCount],
  ["traffic.sidecar.mesh.io/includeOutboundIPRanges", isRangeListOrAll],
  ["traffic.sidecar.mesh.io/excludeOutboundIPRanges", isRangeList],
  ["traffic.sidecar.mesh.io/includeInboundPorts", isPortListOrAll],
  ["traffic.sidecar.mesh.io/excludeInboundPorts", isPortList],
  ["traffic.sidecar.mesh.io/excludeOutboundPorts", isPortList],
]);

const STATS = "proxyStatsMatcher in the settings of the proxy";

/** Successors of deprecated annotations; others have none. */
const ANNOTATION_SUCCESSORS: ReadonlyMap<string, string> = new Map([
  ["sidecar.mesh.io/inject", "label sidecar.mesh.io/inject"],
  ["sidecar.mesh.io/discoveryAddress", "discoveryAddress in the settings of the proxy"],
  ["sidecar.mesh.io/statsInclusionPrefixes", STATS],
  ["sidecar.mesh.io/statsInclusionSuffixes", STATS],
  ["sidecar.mesh.io/statsInclusionRegexps", STATS],
  ["traffic.sidecar.mesh.io/kubevirtInterfaces", "annotation mesh.io/reroute-virtual-interfaces"],
]);

/** Annotations written by programs. Nothing is reported about such annotations. */
const WRITTEN_BY_PROGRAMS: ReadonlySet<string> = new Set([
  "sidecar.mesh.io/status",
  "gateway.mesh.io/controller-version",
  "mesh.io/rev",
]);

const REPORTS = ["misplaced-annotation", "wrong-annotation", "deprecated-annotation", "alpha-annotation"] as const;

export const OBJECT_ANNOTATIONS: readonly Analyzer<"Namespace" | "Service">[] = (["Namespace", "Service"] as const).map(
  (kind) => ({ kind, reports: REPORTS, analyze: lookAtOwn }),
);

export const WORKLOAD_ANNOTATIONS: readonly Analyzer<WorkloadKind>[] = WORKLOAD_KINDS.map((kind) => ({
  kind,
  reports: REPORTS,
  analyze: lookAtAll,
}));

function lookAtOwn({ kind, meta, origin }: Fact<FactKind>, read: AnalysisReader, report: ReportMistake): void {
  look({ kind, path: "metadata", annotations: meta.annotations, labels: meta.labels, origin }, read, report);
}

/** Looks at an object that makes pods, and at its pod template. Pods get the template's annotations. */
function lookAtAll(fact: Fact<WorkloadKind>, read: AnalysisReader, report: ReportMistake): void {
  // An object made by another object copies the owner's annotations. The owner has the finding.
  if (fact.spec.owner !== undefined) return;
  lookAtOwn(fact, read, report);
  if (fact.kind === "Pod") return;
  const { annotations, labels } = fact.spec;
  const path = `spec.${fact.kind === "CronJob" ? "jobTemplate.spec." : ""}template.metadata`;
  look({ kind: "Pod", path, annotations, labels, origin: fact.origin }, read, report);
}

interface Annotated {
  readonly kind: string;
  readonly path: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly origin: Origin;
}

function look(
  { kind, path, annotations, labels, origin }: Annotated,
  read: AnalysisReader,
  report: ReportMistake,
): void {
  for (const [name, value] of Object.entries(annotations)) {
    const known = KNOWN_ANNOTATIONS.get(name);
    if (known === undefined || WRITTEN_BY_PROGRAMS.has(name)) continue;
    const spelled = spelledKey(origin, name);
    const field = joinPath(`${path}.annotations`, spelled);
    if (known.on !== undefined && !known.on.includes(kind)) {
      const template = known.on.includes("Pod") ? " or a template of pods" : "";
      const expected = `the annotation at ${known.on.join(" or ")}${template}`;
      report("warning", "misplaced-annotation", { field, value, expected });
      continue;
    }
    const expected = ANNOTATION_VALUES.get(name)?.(value, read.meshConfig.defaultConfig);
    if (expected !== undefined) report("warning", "wrong-annotation", { field, value, expected });
    // Both spellings side by side are for servers of several versions.
    else if (known.deprecated && !Object.hasOwn(labels, name)) {
      const successor = ANNOTATION_SUCCESSORS.get(name) ?? "no such annotation: the annotation does nothing any more";
      const expected = spelled === name ? successor : successor.split(" ").map(istioKey).join(" ");
      report("info", "deprecated-annotation", { field, value, expected });
    } else if (known.status === "alpha" && known.on !== undefined && !known.deprecated) {
      report("info", "alpha-annotation", {
        field,
        value,
        expected: "no use of the annotation where upgrades must not change behaviour",
      });
    }
  }
}
