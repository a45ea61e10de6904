/**
 * Destinations of VirtualServices that some clients of the route do not see. The clients call a visible host, and the
 * route sends the requests to a host that is not exported to the clients.
 *
 * @module
 */
import type { VirtualServiceSpec } from "../../config/kinds/kinds.ts";
import { effectiveExportTo } from "../../mesh/names.ts";
import { MESH_GATEWAY } from "../../mesh/sidecar_rules.ts";
import type { Analyzer } from "../analyzer.ts";
import { choosesClients, destinationsOf } from "../references/destination_list.ts";
import { type Audience, both, exportOfAny, exportOfHost, isWithin, meets } from "../reader/audience.ts";
import type { AnalysisReader } from "../reader/reader.ts";

export const HIDDEN_FROM_CLIENTS: Analyzer<"VirtualService"> = {
  kind: "VirtualService",
  reports: ["hidden-by-export"],
  analyze: ({ meta: { namespace }, spec }, read, report) => {
    const { gateways = [], hosts = [] } = spec;
    if (hosts.length === 0 || (gateways.length > 0 && !gateways.includes(MESH_GATEWAY)) || choosesClients(spec)) return;
    const audience = effectiveExportTo(spec.exportTo, namespace, read.meshConfig.defaultVirtualServiceExportTo);
    for (const one of destinationsOf(spec)) {
      const { destination, percent } = one;
      const host = read.fullHost(destination.host, namespace);
      const services = read.servicesOf(host);
      const to = exportOfAny(services, read);
      // Another finding reports a service that no client sees.
      if (services.length === 0 || to[0] === "*" || !meets(to, audience)) continue;
      const found = hiddenFromCallers({ spec, namespace, audience, host, to }, read);
      if (found === undefined) continue;
      const { called, callers } = found;
      report("warning", "hidden-by-export", {
        field: `${one.field}.host`,
        value: destination.host,
        expected: `a host that all who call ${called} see (${host} is exported to ${to.join(", ")}; ${called} to ${
          callers[0] === "*" ? "all" : callers.join(", ")
        })`,
        others: services.map(({ cause }) => cause),
        effect: percent === undefined
          ? "No copy of the other clients' requests arrives there."
          : `Of the other clients' requests ${percent} % of what this rule matches is answered with 503 or closed.`,
      });
    }
  },
};

/** A destination of a route, with the namespaces that see the route and the namespaces that see the destination. */
export interface ExportedDestination {
  readonly spec: VirtualServiceSpec;
  readonly namespace: string;
  readonly audience: Audience;
  readonly host: string;
  readonly to: Audience;
}

/** The first host of a route that is called from a namespace without the destination, and that namespace. */
export function hiddenFromCallers(
  { spec: { hosts = [] }, namespace, audience, host, to }: ExportedDestination,
  read: AnalysisReader,
): { readonly called: string; readonly callers: Audience } | undefined {
  for (const written of hosts) {
    const called = read.fullHost(written, namespace);
    const callers = called === host ? to : both(audience, exportOfHost(called, read));
    if (!isWithin(callers, to)) return { called, callers };
  }
}
