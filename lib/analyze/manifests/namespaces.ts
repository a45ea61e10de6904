/**
 * Labels of namespaces for injection: no such label, or several.
 *
 * @module
 */
import { DATAPLANE_MODE } from "../../registry/labels.ts";
import type { Analyzer } from "../analyzer.ts";

const INJECTION = "mesh-injection";
const REVISION = "mesh.io/rev";

/** Namespaces of the orchestrator and of the mesh itself, where nobody expects a proxy. */
const SYSTEM: ReadonlySet<string> = new Set([
  ...["kube-system", "kube-public", "kube-node-lease", "local-path-storage", "istio-system", "mesh-system"],
]);

export const INJECTED_NAMESPACES: Analyzer<"Namespace"> = {
  kind: "Namespace",
  reports: ["several-injection-labels", "namespace-not-injected"],
  analyze: ({ meta: { name, labels } }, read, report) => {
    if (SYSTEM.has(name) || name === read.meshConfig.rootNamespace) return;
    const injection = labels[INJECTION];
    const isEnabled = injection === undefined || injection === "enabled";
    const others = isEnabled ? [REVISION, DATAPLANE_MODE].filter((key) => Object.hasOwn(labels, key)) : [];
    const written = [...(injection === undefined ? [] : [INJECTION]), ...others];
    if (written.length > 1) {
      const value = Object.fromEntries(written.map((key) => [key, labels[key]]));
      report("warning", "several-injection-labels", {
        field: "metadata.labels",
        value,
        expected: "one of these labels",
      });
    }
    if (labels[DATAPLANE_MODE] === "ambient" || injection !== undefined || Object.hasOwn(labels, REVISION)) return;
    report("info", "namespace-not-injected", {
      field: "metadata.labels",
      expected: `${INJECTION} (or istio-injection): enabled or disabled, or ${REVISION} (or istio.io/rev)`,
    });
  },
};
