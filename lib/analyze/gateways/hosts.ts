/**
 * Hosts of a VirtualService that some Gateway of the VirtualService does not serve, or that none of its Gateways
 * serves.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import { overlaps } from "../../mesh/host_match.ts";
import { MESH_GATEWAY } from "../../mesh/sidecar_rules.ts";
import type { Analyzer } from "../analyzer.ts";

export const HOSTS_IN_GATEWAYS: Analyzer<"VirtualService"> = {
  kind: "VirtualService",
  reports: ["host-not-in-gateway"],
  analyze: ({ meta: { namespace }, spec: { gateways = [], hosts = [] } }, read, report) => {
    const full = hosts.map((host) => read.fullHost(host, namespace));
    const known: { readonly key: string; readonly name: string; readonly served: readonly string[] }[] = [];
    let isServedBySome = false;
    for (const [at, written] of gateways.entries()) {
      const name = read.fullGateway(written, namespace);
      if (name === MESH_GATEWAY) continue;
      const [of = "", gatewayName = ""] = name.split("/");
      const gateway = read.object("Gateway", of, gatewayName);
      if (gateway === undefined) continue;
      const served = hostsFor(gateway, namespace);
      known.push({ key: gateway.key, name, served });
      if (full.some((host) => served.some((one) => overlaps(one, host)))) {
        isServedBySome = true;
        continue;
      }
      report("warning", "host-not-in-gateway", {
        field: `spec.gateways[${at}]`,
        value: written,
        expected: `a Gateway with ${hosts.join(" or ")} (${name} has ${
          served.join(", ") || "no host"
        } for ${namespace})`,
        others: [gateway.key],
      });
    }
    // The other hosts may be for sidecars, or for an unknown Gateway.
    if (!isServedBySome || known.length < gateways.length) return;
    for (const [at, host] of full.entries()) {
      if (known.some(({ served }) => served.some((one) => overlaps(one, host)))) continue;
      report("warning", "host-not-in-gateway", {
        field: `spec.hosts[${at}]`,
        value: hosts[at],
        expected: `a host of a Gateway of the object (${
          known.map(({ name, served }) => `${name} has ${served.join(", ") || "no host"} for ${namespace}`).join("; ")
        })`,
        others: known.map(({ key }) => key),
      });
    }
  },
};

/** The hosts of all servers that accept virtual services of a namespace. */
function hostsFor({ meta, spec }: ConfigObject<"Gateway">, namespace: string): string[] {
  return [
    ...new Set(spec.servers.flatMap(({ hosts }) =>
      hosts.flatMap((written) => {
        const slash = written.indexOf("/");
        const host = written.slice(slash + 1).toLowerCase();
        const of = slash < 0 ? "*" : written.slice(0, slash);
        const isOpen = of === "*" || (of === "." ? meta.namespace : of) === namespace;
        return isOpen ? [host] : [];
      })
    )),
  ];
}
