/**
 * DestinationRules that upgrade connections to hosts outside of the mesh to HTTP/2: WebSocket then needs a server that
 * takes extended CONNECT, which only proxies of the mesh are known to do.
 *
 * @module
 */
import type { TrafficPolicy } from "../../config/kinds/destination_rule/types.ts";
import type { Analyzer } from "../analyzer.ts";

/** See the module. */
export const UPGRADED_HOSTS: Analyzer<"DestinationRule"> = {
  kind: "DestinationRule",
  reports: ["upgrade-outside-mesh"],
  analyze: ({ meta: { namespace }, spec: { host: written, trafficPolicy } }, read, report) => {
    const field = upgradingField(trafficPolicy);
    if (field === undefined) return;
    const host = read.fullHost(written, namespace);
    const outside = read.servicesOf(host).find(({ meshExternal }) => meshExternal);
    if (outside === undefined) return;
    report("info", "upgrade-outside-mesh", {
      field: `spec.trafficPolicy${field}.connectionPool.http.h2UpgradePolicy`,
      value: "UPGRADE",
      expected: `a server of ${host} that takes extended CONNECT (RFC 8441), where clients use WebSocket`,
      others: [outside.cause],
    });
  },
};

/** Path from the traffic policy to the first settings that upgrade; undefined: none do. */
function upgradingField(policy: TrafficPolicy | undefined): string | undefined {
  if (policy?.connectionPool?.http?.h2UpgradePolicy === "UPGRADE") return "";
  const at = policy?.portLevelSettings?.findIndex((one) => one.connectionPool?.http?.h2UpgradePolicy === "UPGRADE");
  return at === undefined || at < 0 ? undefined : `.portLevelSettings[${at}]`;
}
