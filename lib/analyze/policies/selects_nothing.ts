/**
 * Objects whose selector matches no known workload, for every kind that selects workloads of its namespace.
 *
 * @module
 */
import type { StringMap } from "../../config/kinds/kinds.ts";
import type { ConfigObject } from "../../config/types.ts";
import { isSelecting, rootReach, type SelectingObject, selectionOf } from "../../mesh/selection/selection.ts";
import type { Analyzer } from "../analyzer.ts";
import { hasWorkload, severityOfNoWorkload, shownLabels } from "./workloads.ts";

/** Kinds without another finding for this, with the path of the labels. */
const LABELS_OF = {
  DestinationRule: "spec.workloadSelector.matchLabels",
  PeerAuthentication: "spec.selector.matchLabels",
  ProxyConfig: "spec.selector.matchLabels",
  ProxyFilter: "spec.workloadSelector.labels",
  RequestAuthentication: "spec.selector.matchLabels",
  ServiceEntry: "spec.workloadSelector.labels",
  Sidecar: "spec.workloadSelector.labels",
  Telemetry: "spec.selector.matchLabels",
  WasmPlugin: "spec.selector.matchLabels",
} as const;

type LabelledKind = keyof typeof LABELS_OF;

/** An analyzer for each of these kinds. */
export const SELECTS_NOTHING: readonly Analyzer<LabelledKind>[] = (Object.keys(LABELS_OF) as LabelledKind[]).map((
  kind,
) => ({
  kind,
  reports: ["selects-nothing"],
  analyze: (object, read, report) => {
    const { namespace } = object.meta;
    const reachesAll = isSelecting(kind) && rootReach(kind) === "any" && namespace === read.meshConfig.rootNamespace;
    const namespaces = reachesAll ? read.namespaceNames() : [namespace];
    const labels = labelsOf(object);
    const severity = severityOfNoWorkload(namespace, namespaces, read);
    if (Object.keys(labels).length === 0 || severity === undefined) return;
    if (namespaces.some((one) => hasWorkload(one, labels, read))) return;
    const where = reachesAll ? "the mesh" : `namespace ${namespace}`;
    report(severity, "selects-nothing", {
      field: LABELS_OF[kind],
      value: labels,
      expected: `labels of a workload of ${where} (no known workload has ${shownLabels(labels)})`,
      ...kind === "ServiceEntry"
        ? { effect: "The service has no endpoint: requests to it are answered with 503." }
        : {},
    });
  },
}));

function labelsOf(object: ConfigObject<LabelledKind>): StringMap {
  switch (object.kind) {
    case "DestinationRule":
      return (object as ConfigObject<"DestinationRule">).spec.workloadSelector?.matchLabels ?? {};
    case "ServiceEntry":
      return (object as ConfigObject<"ServiceEntry">).spec.workloadSelector?.labels ?? {};
    default:
      return selectionOf(object as SelectingObject).labels;
  }
}
