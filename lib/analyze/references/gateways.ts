/**
 * Gateways that VirtualServices name: those of the object, and those of a single match.
 *
 * @module
 */
import type { VirtualServiceSpec } from "../../config/kinds/kinds.ts";
import { MESH_GATEWAY } from "../../mesh/virtual_service_index.ts";
import { nearestName } from "../../kernel/text/nearest.ts";
import type { Analyzer } from "../analyzer.ts";

/** See the module. */
export const GATEWAY_REFERENCES: Analyzer<"VirtualService"> = {
  kind: "VirtualService",
  reports: ["unknown-gateway"],
  analyze: ({ meta: { namespace }, spec }, read, report) => {
    const seen = new Set<string>();
    for (const { name, field } of gatewaysOf(spec)) {
      const full = read.fullGateway(name, namespace);
      if (full === MESH_GATEWAY || seen.has(full)) continue;
      seen.add(full);
      const [of = "", gateway = ""] = full.split("/");
      if (read.object("Gateway", of, gateway) || read.isRefused("Gateway", of, gateway)) continue;
      const names = read.objectsIn("Gateway", of).map(({ meta }) => meta.name);
      const closest = nearestName(gateway, names);
      const hint = closest === undefined ? "" : `, such as ${of}/${closest}`;
      report("error", "unknown-gateway", {
        field,
        value: name,
        expected: `a Gateway that exists (${full} does not)${hint}`,
        effect: `Gateways answer 404 for ${(spec.hosts ?? []).join(", ") || "these hosts"}.`,
      });
    }
  },
};

/** The names of gateways, in the order in which they are written. */
export function* gatewaysOf(
  { gateways = [], http = [], tls = [], tcp = [] }: VirtualServiceSpec,
): Iterable<{ readonly name: string; readonly field: string }> {
  for (const [at, name] of gateways.entries()) yield { name, field: `spec.gateways[${at}]` };
  for (const [protocol, rules] of Object.entries({ http, tls, tcp })) {
    for (const [at, { match = [] }] of rules.entries()) {
      for (const [index, one] of match.entries()) {
        for (const [place, name] of (one.gateways ?? []).entries()) {
          yield { name, field: `spec.${protocol}[${at}].match[${index}].gateways[${place}]` };
        }
      }
    }
  }
}
