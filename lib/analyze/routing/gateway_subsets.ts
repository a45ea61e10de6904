/**
 * Routes of gateways to a host whose subsets are chosen by a VirtualService for sidecars. The gateway's route sends to
 * the host itself, past the rules for sidecars.
 *
 * @module
 */
import { MESH_GATEWAY } from "../../mesh/sidecar_rules.ts";
import type { Analyzer } from "../analyzer.ts";

export const GATEWAY_SUBSETS: Analyzer<"VirtualService"> = {
  kind: "VirtualService",
  reports: ["subsets-not-for-gateway"],
  analyze: ({ key, meta: { namespace }, spec: { gateways = [], http = [] } }, read, report) => {
    if (!gateways.some((name) => name !== MESH_GATEWAY)) return;
    for (const [at, { route = [] }] of http.entries()) {
      for (const [index, { destination }] of route.entries()) {
        if (destination.subset) continue;
        const host = read.fullHost(destination.host, namespace);
        const other = read.virtualServicesFor(host).find(({ causes, spec }) =>
          causes[0] !== key &&
          spec.http?.some((rule) => rule.route?.some((one) => one.destination.host === host && one.destination.subset))
        );
        if (other === undefined) continue;
        const name = `${other.namespace}/${other.name}`;
        report("warning", "subsets-not-for-gateway", {
          field: `spec.http[${at}].route[${index}].destination`,
          value: destination,
          expected: `a subset, or the rules of ${name} here too`,
          others: other.causes,
          effect: `Requests through the gateway reach all of ${host}; the subsets of ${name} are only for sidecars.`,
        });
      }
    }
  },
};
