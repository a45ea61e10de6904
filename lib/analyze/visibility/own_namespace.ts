/**
 * Destinations of VirtualServices that are visible to others, but not to the route's own namespace. Requests of clients
 * in that namespace fail. For a gateway without known workloads, the namespace of its routes is the only guess.
 *
 * @module
 */
import type { VirtualServiceSpec } from "../../config/kinds/kinds.ts";
import { effectiveExportTo } from "../../mesh/names.ts";
import { MESH_GATEWAY } from "../../mesh/sidecar_rules.ts";
import type { Service } from "../../registry/types.ts";
import type { Analyzer } from "../analyzer.ts";
import { type Audience, exportOfAny, meets } from "../reader/audience.ts";
import type { AnalysisReader } from "../reader/reader.ts";
import { choosesClients, destinationsOf } from "../references/destination_list.ts";
import { hiddenFromCallers } from "./clients.ts";
import { namespacesOf } from "./gateways.ts";

export const HIDDEN_FROM_OWN_NAMESPACE: Analyzer<"VirtualService"> = {
  kind: "VirtualService",
  reports: ["hidden-from-own-namespace"],
  analyze: ({ meta: { namespace }, spec }, read, report) => {
    // A delegate's clients are the clients of its root.
    if ((spec.hosts ?? []).length === 0) return;
    const audience = effectiveExportTo(spec.exportTo, namespace, read.meshConfig.defaultVirtualServiceExportTo);
    for (const { destination, field } of destinationsOf(spec)) {
      const host = read.fullHost(destination.host, namespace);
      const services = read.servicesOf(host);
      const to = exportOfAny(services, read);
      // Another finding reports a service that nobody sees, or nobody with the route.
      if (services.length === 0 || to[0] === "*" || to.includes(namespace) || !meets(to, audience)) continue;
      if (read.knownHost(host, namespace) !== undefined) continue;
      const who = whoIsRefused({ spec, namespace, audience, host, to }, read);
      if (who === undefined) continue;
      report("warning", "hidden-from-own-namespace", {
        field: `${field}.host`,
        value: destination.host,
        expected: `a host that namespace ${namespace} sees (${described(services, host, to)})`,
        others: services.map(({ cause }) => cause),
        effect: who,
      });
    }
  },
};

/** A destination that the route's namespace does not see. */
interface UnseenDestination {
  readonly spec: VirtualServiceSpec;
  readonly namespace: string;
  readonly audience: Audience;
  readonly host: string;
  readonly to: Audience;
}

/** Whose requests fail, in a sentence; undefined: no requests fail, or another finding reports the failure. */
function whoIsRefused(one: UnseenDestination, read: AnalysisReader): string | undefined {
  const { spec, namespace, audience } = one;
  const gateways = spec.gateways ?? [];
  const isForMesh = gateways.length === 0 || gateways.includes(MESH_GATEWAY);
  const isForOwn = audience[0] === "*" || audience.includes(namespace);
  if (isForMesh && isForOwn && !choosesClients(spec) && hiddenFromCallers(one, read) === undefined) {
    return `Requests of namespace ${namespace} that this rule matches are answered with 503 or closed.`;
  }
  const unknown = gateways.map((written) => read.fullGateway(written, namespace)).find((full) => {
    const [of = "", name = ""] = full.split("/");
    if (full === MESH_GATEWAY) return false;
    const gateway = read.object("Gateway", of, name);
    return gateway !== undefined && namespacesOf(gateway, read).length === 0;
  });
  if (unknown === undefined) return undefined;
  return `Gateway ${unknown} answers 503, unless its workloads, of which nothing is known here, run in ${
    one.to.join(" or ")
  }.`;
}

function described(services: readonly Service[], host: string, to: Audience): string {
  const owners = [...new Set(services.map(({ namespace }) => namespace))].join(", ");
  return `${host} of namespace ${owners} is exported to ${to.join(", ")}`;
}
