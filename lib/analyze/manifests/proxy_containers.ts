/**
 * Proxies that pods should have. A running pod must have the proxy; in a template injection must fill in the proxy.
 *
 * A written manifest has no proxy yet, so a missing proxy is a mistake only in a Pod of a running orchestrator.
 *
 * @module
 */
import type { WorkloadData } from "../../config/facts/types.ts";
import type { Analyzer } from "../analyzer.ts";
import { isProxyContainer, namespaceInjection, ownInjection } from "./membership.ts";

/** Phases of pods that run, or will run. */
const RUNS: ReadonlySet<string | undefined> = new Set(["Running", "Pending"]);

export const PROXIES_OF_PODS: Analyzer<"Pod"> = {
  kind: "Pod",
  reports: ["pod-without-proxy", "image-auto-in-pod"],
  analyze: ({ spec, meta: { namespace } }, read, report) => {
    if (!RUNS.has(spec.phase)) return;
    const auto = autoImage(spec);
    if (auto !== undefined) {
      report("error", "image-auto-in-pod", {
        field: `spec.${auto}`,
        value: "auto",
        expected: "the image of the proxy",
      });
    }
    if (spec.hostNetwork || ownInjection(spec) === false || namespaceInjection(namespace, read) !== true) return;
    if (spec.containers.some(isProxyContainer)) return;
    report("warning", "pod-without-proxy", {
      field: "spec.containers",
      expected: `a proxy, since namespace ${namespace} asks for injection`,
    });
  },
};

export const PROXIES_OF_DEPLOYMENTS: Analyzer<"Deployment"> = {
  kind: "Deployment",
  reports: ["image-auto-without-injection"],
  analyze: ({ spec, meta: { namespace } }, read, report) => {
    const auto = autoImage(spec);
    // An unknown Namespace object may have labels that ask for injection.
    const injected = ownInjection(spec) ?? namespaceInjection(namespace, read);
    if (auto === undefined || injected !== false) return;
    report("warning", "image-auto-without-injection", {
      field: `spec.template.spec.${auto}`,
      value: "auto",
      expected: `an image, or injection (namespace ${namespace} and the pods do not ask for it)`,
    });
  },
};

/** Path of the proxy image that injection must fill in; undefined: no such image. */
function autoImage({ containers }: WorkloadData): string | undefined {
  const at = containers.findIndex((one) => !one.init && isProxyContainer(one) && one.image === "auto");
  return at < 0 ? undefined : `containers[${at}].image`;
}
