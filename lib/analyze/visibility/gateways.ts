/**
 * VirtualServices that the workloads of their Gateway do not see, or whose destinations these workloads do not see.
 * Workloads see the objects that are exported to their own namespace. The namespaces of the Gateway and of the
 * VirtualService do not matter.
 *
 * @module
 */
import { gatewaySelects } from "../../config/kinds/gateway/workloads.ts";
import type { ConfigObject } from "../../config/types.ts";
import { effectiveExportTo } from "../../mesh/names.ts";
import { MESH_GATEWAY } from "../../mesh/sidecar_rules.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";
import { destinationsOf, effectOf } from "../references/destination_list.ts";
import { exportOfAny, meets } from "../reader/audience.ts";

export const HIDDEN_FROM_GATEWAYS: Analyzer<"VirtualService"> = {
  kind: "VirtualService",
  reports: ["route-hidden-from-gateway", "hidden-by-export"],
  analyze: (object, read, report) => {
    const { meta: { namespace }, spec: { gateways = [], exportTo } } = object;
    const audience = effectiveExportTo(exportTo, namespace, read.meshConfig.defaultVirtualServiceExportTo);
    for (const [at, written] of gateways.entries()) {
      const full = read.fullGateway(written, namespace);
      const [of = "", name = ""] = full.split("/");
      const gateway = full === MESH_GATEWAY ? undefined : read.object("Gateway", of, name);
      if (gateway === undefined) continue;
      if (audience[0] !== "*" && isHidden(gateway, audience, read)) {
        report("error", "route-hidden-from-gateway", {
          field: `spec.gateways[${at}]`,
          value: written,
          expected: `a Gateway whose workloads run where the route is exported to (${audience.join(", ")}; those of ${
            placeOf(gateway, read)
          })`,
          others: [gateway.key],
        });
      } else lookAtDestinations(object, gateway, read, report);
    }
  },
};

function lookAtDestinations(
  { meta: { namespace }, spec }: ConfigObject<"VirtualService">,
  gateway: ConfigObject<"Gateway">,
  read: AnalysisReader,
  report: ReportMistake,
): void {
  for (const { destination, field, percent } of destinationsOf(spec)) {
    const services = read.servicesOf(read.fullHost(destination.host, namespace));
    const to = exportOfAny(services, read);
    // Another finding reports a service that nobody sees.
    if (services.length === 0 || to[0] === "*" || to[0] === "~" || !isHidden(gateway, to, read)) continue;
    report("error", "hidden-by-export", {
      field: `${field}.host`,
      value: destination.host,
      expected: `a host that is exported to the workloads of Gateway ${
        placeOf(gateway, read)
      } (${destination.host} is to ${to.join(", ")})`,
      others: [...services.map(({ cause }) => cause), gateway.key],
      ...effectOf(percent),
    });
  }
}

/**
 * Whether a gateway has known workloads, all of them outside of the given namespaces.
 *
 * @param from Namespaces that see the object.
 */
function isHidden(gateway: ConfigObject<"Gateway">, from: readonly string[], read: AnalysisReader): boolean {
  const namespaces = namespacesOf(gateway, read);
  return namespaces.length > 0 && !meets(namespaces, from);
}

/** The namespaces of a gateway's known workloads: from manifests, from entries, and from connected proxies. */
export function namespacesOf(gateway: ConfigObject<"Gateway">, read: AnalysisReader): readonly string[] {
  if (read.gatewaysServeOwnNamespace || gateway.spec.internal !== undefined) return [gateway.meta.namespace];
  if (Object.keys(gateway.spec.selector ?? {}).length === 0) return [];
  const ofManifests = read.namespaceNames().filter((one) => read.gatewayWorkloads(gateway, one).length > 0);
  const connected = read.remote.gateways().filter(({ labels }) => gatewaySelects(gateway, labels));
  const others = [...namespacesOfEntries(gateway, read), ...connected.map(({ namespace }) => namespace)];
  return [...new Set([...ofManifests, ...others])].sort();
}

/** The most entries searched for workloads of gateways. With more entries nothing is reported. */
const MOST_ENTRIES = 500;

/** Namespaces of the entries and of the services' endpoints that serve a Gateway. */
function namespacesOfEntries(gateway: ConfigObject<"Gateway">, read: AnalysisReader): string[] {
  const [workloads, services] = [read.objects("WorkloadEntry"), read.objects("ServiceEntry")];
  return [
    ...workloads.slice(0, MOST_ENTRIES).filter(({ meta, spec }) =>
      gatewaySelects(gateway, { ...meta.labels, ...spec.labels })
    ),
    ...services.slice(0, MOST_ENTRIES).filter(({ spec: { endpoints = [], location } }) =>
      location === "MESH_INTERNAL" && endpoints.some(({ labels = {} }) => gatewaySelects(gateway, labels))
    ),
  ].map(({ meta }) => meta.namespace);
}

function placeOf(gateway: ConfigObject<"Gateway">, read: AnalysisReader): string {
  const { meta: { namespace, name } } = gateway;
  return `${namespace}/${name} in ${namespacesOf(gateway, read).join(", ")}`;
}
