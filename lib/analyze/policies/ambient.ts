/**
 * Sidecars for workloads without a sidecar proxy, because the namespace or the pods are in ambient mode.
 *
 * @module
 */
import type { Analyzer } from "../analyzer.ts";
import { isAmbient, isAmbientNamespace } from "../manifests/membership.ts";

export const AMBIENT_SIDECARS: Analyzer<"Sidecar"> = {
  kind: "Sidecar",
  reports: ["sidecar-in-ambient"],
  analyze: ({ meta: { namespace }, spec: { workloadSelector } }, read, report) => {
    const labels = workloadSelector?.labels ?? {};
    const isWhole = Object.keys(labels).length === 0;
    const selected = read.workloads(namespace, labels);
    const inAmbient = selected.filter((one) => isAmbient(one, read));
    const found = read.namespaceFact(namespace);
    const ofNamespace = isAmbientNamespace(found?.meta.labels);
    // A Sidecar for a whole namespace acts on the workloads outside ambient mode. A Sidecar with a selector should act
    // on all its workloads.
    const isWrong = selected.length === 0
      ? ofNamespace
      : isWhole
      ? inAmbient.length === selected.length
      : inAmbient.length > 0;
    if (!isWrong) return;
    const [first] = inAmbient;
    const cause = ofNamespace && found !== undefined ? found : first;
    const isPartial = inAmbient.length < selected.length;
    report("warning", "sidecar-in-ambient", {
      field: isWhole ? "metadata.namespace" : "spec.workloadSelector",
      value: isWhole ? namespace : labels,
      expected: `workloads with a sidecar (${
        ofNamespace || first === undefined ? `namespace ${namespace}` : `${first.kind} ${namespace}/${first.meta.name}`
      } is in ambient mode)`,
      others: cause === undefined ? [] : [cause.key],
      ...isPartial ? { effect: `It does nothing for ${inAmbient.length} of ${selected.length} of its workloads.` } : {},
    });
  },
};
