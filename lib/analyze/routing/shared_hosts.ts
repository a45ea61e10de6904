/**
 * VirtualServices for the same host on sidecars. For each protocol the oldest decides in every namespace that sees
 * both.
 *
 * @module
 */
import type { EffectiveVirtualService, RuleProtocol } from "../../mesh/types.ts";
import { hasRulesForSidecars, MESH_GATEWAY, ruledSidecars, rulesAll } from "../../mesh/sidecar_rules.ts";
import { sharesAudience } from "../../mesh/virtual_service_index.ts";
import type { Analyzer } from "../analyzer.ts";

const PROTOCOLS: readonly RuleProtocol[] = ["http", "tls", "tcp"];

export const SHARED_HOSTS: Analyzer<"VirtualService"> = {
  kind: "VirtualService",
  reports: ["hidden-rules"],
  analyze: ({ key, meta: { namespace }, spec }, read, report) => {
    if (spec.gateways?.length && !spec.gateways.includes(MESH_GATEWAY)) return;
    for (const [at, written] of (spec.hosts ?? []).entries()) {
      const list = read.virtualServicesFor(read.fullHost(written, namespace));
      const self = list.find(({ causes }) => causes[0] === key);
      if (self === undefined) continue;
      const protocols = PROTOCOLS.filter((one) => hasRulesForSidecars(self, one));
      const before = list.slice(0, list.indexOf(self));
      const winners = protocols.map((one) => before.find((other) => hides(other, self, one)));
      const winner = winners.find((one) => one !== undefined);
      if (winner === undefined) continue;
      const isWhole = winners.every((one) => one !== undefined);
      report("error", "hidden-rules", {
        field: `spec.hosts[${at}]`,
        value: written,
        expected: `a host that no older VirtualService has (${winner.namespace}/${winner.name} has it)`,
        others: winner.causes,
        effect: `${winner.namespace}/${winner.name} decides for ${written}; ${
          isWhole ? "no" : "only a part of the"
        } rules of this one act on sidecars.`,
      });
    }
  },
};

function hides(other: EffectiveVirtualService, self: EffectiveVirtualService, protocol: RuleProtocol): boolean {
  return hasRulesForSidecars(other, protocol) && sharesAudience(other, self) &&
    rulesAll(ruledSidecars(other, protocol), ruledSidecars(self, protocol));
}
