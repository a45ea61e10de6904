/**
 * Connections upgraded to HTTP/2, by a DestinationRule or by the mesh's default, towards servers without a known proxy
 * of the mesh. WebSocket then needs a server that accepts extended CONNECT. Proxies of the mesh accept extended
 * CONNECT.
 *
 * @module
 */
import type { DestinationRuleSpec, TrafficPolicy } from "../../config/kinds/destination_rule/schema.ts";
import { parseProtocol } from "../../registry/protocol.ts";
import type { Service } from "../../registry/types.ts";
import type { Analyzer } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";

type Upgrade = "DEFAULT" | "DO_NOT_UPGRADE" | "UPGRADE";

/** A written policy, and where. */
interface WrittenUpgrade {
  readonly field: string;
  /** Absent: all ports. */
  readonly port?: number;
  readonly upgrade: Upgrade;
}

export const UPGRADED_HOSTS: Analyzer<"DestinationRule"> = {
  kind: "DestinationRule",
  reports: ["upgrade-outside-mesh"],
  analyze: ({ meta: { namespace }, spec }, read, report) => {
    const upgrading = writtenUpgrades(spec).filter(({ upgrade }) => upgrade === "UPGRADE");
    if (upgrading.length === 0) return;
    const host = read.fullHost(spec.host, namespace);
    for (const { field, port } of upgrading) {
      const outside = read.servicesOf(host).find((service) =>
        service.ports.some((one) => port === undefined || one.port === port) && isOutside(service, read)
      );
      if (outside === undefined) continue;
      report("info", "upgrade-outside-mesh", {
        field,
        value: "UPGRADE",
        expected: `a server of ${host} that takes extended CONNECT (RFC 8441), where clients use WebSocket`,
        others: [outside.cause],
      });
    }
  },
};

/** The mesh's default upgrades ports that declare HTTP, unless a rule of the host decides. */
export const UPGRADED_BY_DEFAULT: Analyzer<"ServiceEntry"> = {
  kind: "ServiceEntry",
  reports: ["upgrade-outside-mesh"],
  analyze: ({ key, meta: { namespace }, spec: { hosts, ports = [], location } }, read, report) => {
    if (read.meshConfig.h2UpgradePolicy !== "UPGRADE" || location !== "MESH_EXTERNAL") return;
    for (const [at, { number, protocol = "" }] of ports.entries()) {
      if (parseProtocol(protocol) !== "HTTP") continue;
      const host = hosts.map((one) => read.fullHost(one, namespace)).find((one) =>
        !read.allDestinationRules(one).some(({ spec }) => decides(spec, number))
      );
      if (host === undefined) continue;
      report("info", "upgrade-outside-mesh", {
        field: `spec.ports[${at}].protocol`,
        value: protocol,
        expected: `a server of ${host} that takes extended CONNECT (RFC 8441), where clients use WebSocket, since ` +
          "h2UpgradePolicy of the mesh configuration is UPGRADE",
        others: [key],
      });
    }
  },
};

/** Whether a server of the service has no proxy of the mesh, as far as the registry knows. */
export function isOutside(service: Service, read: Pick<AnalysisReader, "endpoints">): boolean {
  if (service.meshExternal) return true;
  return service.provider === "Orch" && read.endpoints(service).some(({ tlsMode }) => tlsMode === "disabled");
}

/** Whether a rule decides the upgrade for a port as a whole. */
function decides(spec: DestinationRuleSpec, port: number): boolean {
  return policiesOf(spec.trafficPolicy, "").some((one) =>
    (one.port === undefined || one.port === port) && one.upgrade !== "DEFAULT"
  );
}

function writtenUpgrades({ trafficPolicy, subsets = [] }: DestinationRuleSpec): WrittenUpgrade[] {
  return [
    ...policiesOf(trafficPolicy, "spec.trafficPolicy"),
    ...subsets.flatMap((one, at) => policiesOf(one.trafficPolicy, `spec.subsets[${at}].trafficPolicy`)),
  ];
}

function policiesOf(policy: TrafficPolicy | undefined, path: string): WrittenUpgrade[] {
  const field = (at: string) => `${path}${at}.connectionPool.http.h2UpgradePolicy`;
  const own = policy?.connectionPool?.http?.h2UpgradePolicy;
  return [
    ...own === undefined ? [] : [{ field: field(""), upgrade: own }],
    ...(policy?.portLevelSettings ?? []).flatMap(({ port, connectionPool }, at) => {
      const upgrade = connectionPool?.http?.h2UpgradePolicy;
      if (upgrade === undefined) return [];
      const number = port?.number;
      return [{
        field: field(`.portLevelSettings[${at}]`),
        upgrade,
        ...(number === undefined ? {} : { port: number }),
      }];
    }),
  ];
}
