/**
 * VirtualServices for the same host on sidecars. For each protocol the oldest decides in every namespace that sees
 * both.
 *
 * @module
 */
import { keyText, objectName } from "../../finding/object_name.ts";
import { isGatewayApiKind } from "../../config/spelling/kind_names.ts";
import type { EffectiveVirtualService, RuleProtocol } from "../../mesh/types.ts";
import { hasRulesForSidecars, MESH_GATEWAY, ruledSidecars, rulesAll } from "../../mesh/sidecar_rules.ts";
import { sharesAudience } from "../../mesh/virtual_service_index.ts";
import type { Analyzer } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";

const PROTOCOLS: readonly RuleProtocol[] = ["http", "tls", "tcp"];

export const SHARED_HOSTS: Analyzer<"VirtualService"> = {
  kind: "VirtualService",
  reports: ["hidden-rules"],
  analyze: ({ key, meta: { namespace }, spec }, read, report) => {
    if (spec.gateways?.length && !spec.gateways.includes(MESH_GATEWAY)) return;
    for (const [at, written] of (spec.hosts ?? []).entries()) {
      const host = read.fullHost(written, namespace);
      const list = read.virtualServicesFor(host);
      const self = list.find(({ causes }) => causes[0] === key);
      if (self === undefined) continue;
      const protocols = PROTOCOLS.filter((one) => hasRulesForSidecars(self, one));
      const before = list.slice(0, list.indexOf(self));
      const winners = protocols.map((one) => before.find((other) => hides(other, self, one, host, read)));
      const winner = winners.find((one) => one !== undefined);
      if (winner === undefined) continue;
      const isWhole = winners.every((one) => one !== undefined);
      report("error", "hidden-rules", {
        field: `spec.hosts[${at}]`,
        value: written,
        expected: `a host that no older VirtualService has (${nameOf(winner)} has it)`,
        others: winner.causes,
        effect: `${nameOf(winner)} decides for ${written}; ${
          isWhole ? "no" : "only a part of the"
        } rules of this one act on sidecars.`,
      });
    }
  },
};

/** The name for people. Behind rules for a service may be routes of the Gateway API, the first of which stands for all. */
function nameOf({ namespace, name, causes }: EffectiveVirtualService): string {
  const route = causes.find((key) => isGatewayApiKind(objectName(key).kind));
  return route === undefined ? `${namespace}/${name}` : keyText(route);
}

/** Whether a virtual service takes all of the rules for a host of a younger one on sidecars. */
export function hides(
  other: EffectiveVirtualService,
  self: EffectiveVirtualService,
  protocol: RuleProtocol,
  host: string,
  read: Pick<AnalysisReader, "service">,
): boolean {
  return hasRulesForSidecars(other, protocol) && sharesAudience(other, self) &&
    rulesAll(ruledSidecars(other, protocol), ruledSidecars(self, protocol)) && isAboutService(other, self, host, read);
}

/** Whether rules hold at the service of a younger virtual service: rules of routes are for the service of one namespace. */
function isAboutService(
  { serviceNamespace }: EffectiveVirtualService,
  self: EffectiveVirtualService,
  host: string,
  read: Pick<AnalysisReader, "service">,
): boolean {
  if (serviceNamespace === undefined) return true;
  return serviceNamespace === (self.serviceNamespace ?? read.service(host, self.namespace)?.namespace);
}
