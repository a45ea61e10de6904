/**
 * `tcp` rules without connections at a gateway: an earlier rule takes all connections of the port.
 *
 * @module
 */
import { serverHosts } from "../../config/kinds/gateway/hosts.ts";
import type { GatewayServerSpec } from "../../config/kinds/gateway/schema.ts";
import { gatewayTcpRules, matchesServer, virtualServicesOfServer } from "../../mesh/gateway_tcp_rules.ts";
import { MESH_GATEWAY } from "../../mesh/sidecar_rules.ts";
import { sharesAudience } from "../../mesh/virtual_service_index.ts";
import { parseProtocol } from "../../registry/protocol.ts";
import type { Analyzer } from "../analyzer.ts";

export const TCP_RULES: Analyzer<"VirtualService"> = {
  kind: "VirtualService",
  reports: ["hidden-tcp-rule"],
  analyze: ({ key, meta: { namespace }, spec: { gateways = [], tcp = [] } }, read, report) => {
    if (tcp.length === 0) return;
    const reported = new Set<number>();
    for (const written of gateways) {
      const name = read.fullGateway(written, namespace);
      const [of = "", gatewayName = ""] = name.split("/");
      const gateway = name === MESH_GATEWAY ? undefined : read.object("Gateway", of, gatewayName);
      if (gateway === undefined) continue;
      const bound = read.virtualServicesOf(name);
      const self = bound.find(({ causes }) => causes[0] === key);
      if (self === undefined) continue;
      const rivals = bound.filter((other) => sharesAudience(other, self));
      for (const server of gateway.spec.servers.filter(carriesBytes)) {
        const { number } = server.port;
        const candidates = virtualServicesOfServer(rivals, serverHosts(server, of));
        const { used, unreached } = gatewayTcpRules(candidates, (match) => matchesServer(match, name, number));
        const winner = used.at(-1);
        for (const { virtualService, index } of unreached) {
          if (virtualService !== self || winner === undefined || reported.has(index)) continue;
          reported.add(index);
          const title = `tcp[${winner.index}] of ${winner.virtualService.namespace}/${winner.virtualService.name}`;
          report("error", "hidden-tcp-rule", {
            field: `spec.tcp[${index}]`,
            expected: `a port of its own, or destinationSubnets in front of ${title}, which takes all connections ` +
              `to port ${number} of Gateway ${name}: bytes name no host`,
            others: [...winner.virtualService.causes, gateway.key].filter((one) => one !== key),
          });
        }
      }
    }
  },
};

/** Whether the connections of a server are carried as bytes, by `tcp` rules. */
function carriesBytes({ port, tls }: GatewayServerSpec): boolean {
  if (tls?.mode === "PASSTHROUGH" || tls?.mode === "AUTO_PASSTHROUGH") return false;
  const protocol = parseProtocol(port.protocol);
  return ["TCP", "Mongo", "MySQL", "Redis"].includes(protocol) || protocol === "TLS" && tls !== undefined;
}
