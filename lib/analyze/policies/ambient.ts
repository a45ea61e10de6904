/**
 * Sidecars for workloads that have no sidecar proxy, since their namespace or pods are in ambient mode.
 *
 * @module
 */
import type { StringMap } from "../../config/kinds/kinds.ts";
import type { Analyzer } from "../analyzer.ts";

const MODE = "mesh.io/dataplane-mode";

/** See the module. */
export const AMBIENT_SIDECARS: Analyzer<"Sidecar"> = {
  kind: "Sidecar",
  reports: ["sidecar-in-ambient"],
  analyze: ({ meta: { namespace }, spec: { workloadSelector } }, read, report) => {
    const labels = workloadSelector?.labels ?? {};
    const found = read.namespaceFact(namespace);
    const ofNamespace = found?.meta.labels[MODE] === "ambient";
    const modeOf = (own: StringMap) => own[MODE] === undefined ? ofNamespace : own[MODE] === "ambient";
    const selected = read.workloads(namespace, labels);
    const isWhole = Object.keys(labels).length === 0;
    const isAmbient = selected.length > 0 ? selected.every(({ spec }) => modeOf(spec.labels)) : ofNamespace;
    if (!isAmbient) return;
    const [first] = selected;
    const others = ofNamespace && found !== undefined ? [found.key] : first === undefined ? [] : [first.key];
    report("warning", "sidecar-in-ambient", {
      field: isWhole ? "metadata.namespace" : "spec.workloadSelector",
      value: isWhole ? namespace : labels,
      expected: `workloads with a sidecar (label ${MODE}=ambient is on ${
        ofNamespace ? `namespace ${namespace}` : "them"
      })`,
      others,
    });
  },
};
