/**
 * Policies for no known workload: no workload has the labels, or every workload with the labels is outside the mesh.
 *
 * @module
 */
import { selectionOf } from "../../mesh/selection/selection.ts";
import type { Analyzer } from "../analyzer.ts";
import { isOutsideMesh } from "../manifests/membership.ts";
import { hasWorkload, severityOfNoWorkload, shownLabels } from "./workloads.ts";

export const POLICY_WORKLOADS: Analyzer<"AuthorizationPolicy"> = {
  kind: "AuthorizationPolicy",
  reports: ["policy-without-workload"],
  analyze: (policy, read, report) => {
    const { namespace } = policy.meta;
    const { labels, targets } = selectionOf(policy);
    if (targets.length > 0) return;
    const isOfMesh = namespace === read.meshConfig.rootNamespace;
    const hasLabels = Object.keys(labels).length > 0;
    if (isOfMesh && !hasLabels) return;
    const namespaces = isOfMesh ? read.namespaceNames() : [namespace];
    const severity = severityOfNoWorkload(namespace, hasLabels ? namespaces : read.namespaceNames(), read);
    if (severity === undefined) return;
    if (namespaces.some((one) => hasWorkload(one, labels, read, (workload) => !isOutsideMesh(workload, read)))) return;
    const outside = namespaces.flatMap((one) => read.workloads(one, labels))[0];
    const hint = outside === undefined
      ? hasLabels ? ` (no known workload has ${shownLabels(labels)})` : ""
      : ` (${outside.kind} ${outside.meta.namespace}/${outside.meta.name} gets no proxy)`;
    report(severity, "policy-without-workload", {
      field: hasLabels ? "spec.selector.matchLabels" : "metadata.namespace",
      value: hasLabels ? labels : namespace,
      expected: `${
        hasLabels
          ? `labels of a workload of ${isOfMesh ? "the mesh" : `namespace ${namespace}`} with a proxy`
          : "a namespace that has workloads of the mesh"
      }${hint}`,
      others: outside === undefined ? [] : [outside.key],
    });
  },
};
