/**
 * The metric of the patches of ProxyFilters.
 *
 * @module
 */
import type { ApplyTo } from "../../config/kinds/proxy_filter/schema.ts";
import type { GaugeHandle, Metrics } from "../../kernel/metrics/registry.ts";
import type { Mesh } from "../../mesh/mesh.ts";
import { compileFilter } from "../../patches/compile.ts";
import type { RejectedPatches } from "../../translate/patches/rejected.ts";
import type { PatchOutcome } from "../../patches/types.ts";
import { patchesOfType } from "../stand_ins/suspects.ts";

/** Values of the label `patch`, in Istio's words where Istio has a word. */
const PATCH: { readonly [A in Exclude<ApplyTo, "INVALID">]: string } = {
  CLUSTER: "cluster",
  LISTENER: "listener",
  LISTENER_FILTER: "listenerfilter",
  FILTER_CHAIN: "filterchain",
  NETWORK_FILTER: "networkfilter",
  HTTP_FILTER: "httpfilter",
  ROUTE_CONFIGURATION: "routeconfiguration",
  VIRTUAL_HOST: "vhost",
  HTTP_ROUTE: "route",
  EXTENSION_CONFIG: "extensionconfig",
  BOOTSTRAP: "bootstrap",
};

type PatchLabels = { readonly name: string; readonly patch: string; readonly result: string };

/** The source of the metrics of patches. */
export interface PatchedMesh {
  readonly mesh: Mesh;
  /** Outcomes of patches that matched. */
  patchOutcomes(): Iterable<PatchOutcome>;
  /** The proxies, with the resources that proxies reject because of patches. */
  proxies(): Iterable<{ readonly rejectedPatches: ReadonlyMap<string, RejectedPatches> }>;
}

/**
 * Feeds `pilot_proxy_filter_status`. For each ProxyFilter and target, `applied` is 1 when the filter patches something
 * now, else 0. `error` is 1 when a patch fails, cannot be read, or produces a resource that a proxy rejects. Series of
 * removed objects disappear with the next scrape. A scrape looks at the notes of all results.
 *
 * @returns A function to call at each scrape.
 */
export function patchMetrics(metrics: Metrics, patched: () => PatchedMesh): () => void {
  const gauge = metrics.gauge("pilot_proxy_filter_status");
  let shown = new Map<string, PatchLabels>();
  return () => {
    const now = new Map<string, { readonly labels: PatchLabels; readonly value: number }>();
    const { mesh } = patched();
    const hold = (key: string, applyTo: ApplyTo | undefined, result: "applied" | "error", value: number) => {
      if (applyTo === undefined || applyTo === "INVALID") return;
      const labels = { name: key.slice(key.indexOf("/") + 1), patch: PATCH[applyTo], result };
      const id = `${labels.name} ${labels.patch} ${result}`;
      if (value === 1 || !now.has(id)) now.set(id, { labels, value });
    };
    for (const filter of mesh.proxyFilters) {
      const written = filter.spec.configPatches ?? [];
      for (const { applyTo } of written) hold(filter.key, applyTo, "applied", 0);
      for (const { index, what } of compileFilter(filter).problems) {
        if (what !== "left out") hold(filter.key, written[index]?.applyTo, "error", 1);
      }
    }
    for (const { patch, error } of patched().patchOutcomes()) {
      hold(patch.filter, patch.applyTo, error === undefined ? "applied" : "error", 1);
    }
    for (const { rejectedPatches } of patched().proxies()) {
      for (const one of rejectedPatches.values()) {
        for (const { filter, applyTo } of patchesOfType(mesh, one.typeUrl, one.filters)) {
          hold(filter, applyTo, "error", 1);
        }
      }
    }
    shown = replaceSeries(gauge, shown, now);
  };
}

function replaceSeries(
  gauge: GaugeHandle<"name" | "patch" | "result">,
  shown: ReadonlyMap<string, PatchLabels>,
  now: ReadonlyMap<string, { readonly labels: PatchLabels; readonly value: number }>,
): Map<string, PatchLabels> {
  for (const [id, labels] of shown) if (!now.has(id)) gauge.remove(labels);
  const next = new Map<string, PatchLabels>();
  for (const [id, { labels, value }] of now) {
    gauge.set(labels, value);
    next.set(id, labels);
  }
  return next;
}
