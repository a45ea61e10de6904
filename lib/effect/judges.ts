/**
 * The judges, by kind.
 *
 * @module
 */
import { GATEWAY_API_KINDS, type GatewayApiKind } from "../config/kinds/kinds.ts";
import type { Kind } from "../config/types.ts";
import { judgeDestinationRule } from "./destination_rule.ts";
import type { AnyJudge, Judge } from "./judge.ts";
import { judgePeerAuthentication, judgeProxyFilter, judgeSelecting, judgeWaypointPolicy } from "./selecting.ts";
import { judgeServiceEntry } from "./service_entry.ts";
import { judgeSidecar } from "./sidecar.ts";
import { judgeTelemetry } from "./telemetry.ts";
import { judgeVirtualService } from "./virtual_service.ts";

/** Reports servers of a Gateway that have no listener, although some workload serves the Gateway. */
const judgeGateway: Judge<"Gateway"> = ({ key, spec }, { mesh, routers, inForce, noteDead }) => {
  const dead = spec.servers.map((_, at) => at).filter((at) =>
    // A server that passes connections on has clusters even without a listener.
    spec.servers[at]!.tls?.mode !== "AUTO_PASSTHROUGH" && !inForce.hasWithin(key, "servers", `${at}`)
  );
  if (dead.length === 0) return [];
  noteDead();
  const served = routers.map(({ namespace, labels }) => mesh.gateways.select(namespace, labels))
    .filter((gateways) => gateways.some((one) => one.key === key));
  if (served.length === 0) return [];
  // A server without routes may still keep other servers from its port. Another finding reports the conflict.
  const others = new Set(served.flat().flatMap((one) => one.spec.servers));
  const isContested = (at: number) =>
    [...others].some((server) => server !== spec.servers[at] && server.port.number === spec.servers[at]!.port.number);
  if (dead.some(isContested)) return [];
  const expected = "a server that has a listener at some workload of the Gateway (no workload has one)";
  if (dead.length === spec.servers.length) {
    return [{ field: "", parts: dead.map((at) => `spec.servers[${at}]`), expected }];
  }
  return dead.map((at) => ({
    field: `spec.servers[${at}].port.number`,
    value: spec.servers[at]!.port.number,
    expected,
  }));
};

function any<K extends Kind>(judge: Judge<K>): AnyJudge {
  return judge as unknown as AnyJudge;
}

const NEVER: AnyJudge = () => [];

const NEVER_OF_GATEWAY_API = Object.fromEntries(GATEWAY_API_KINDS.map((kind) => [kind, NEVER])) as Record<
  GatewayApiKind,
  AnyJudge
>;

/** The judge of each kind. */
export const JUDGES: Readonly<Record<Kind, AnyJudge>> = {
  VirtualService: any<"VirtualService">(judgeVirtualService),
  DestinationRule: any<"DestinationRule">(judgeDestinationRule),
  Gateway: any<"Gateway">(judgeGateway),
  ServiceEntry: any<"ServiceEntry">(judgeServiceEntry),
  Sidecar: any<"Sidecar">(judgeSidecar),
  ProxyFilter: any<"ProxyFilter">(judgeProxyFilter),
  AuthorizationPolicy: any<"AuthorizationPolicy">(judgeWaypointPolicy),
  RequestAuthentication: any<"RequestAuthentication">(judgeWaypointPolicy),
  PeerAuthentication: any<"PeerAuthentication">(judgePeerAuthentication),
  WasmPlugin: any<"WasmPlugin">(judgeSelecting),
  Telemetry: any<"Telemetry">(judgeTelemetry),
  // A WorkloadEntry introduces a workload, which may be a client without any endpoint.
  WorkloadEntry: NEVER,
  // Agents read these kinds when workloads register and proxies start. No resource is made from them.
  WorkloadGroup: NEVER,
  ProxyConfig: NEVER,
  // Analyzers judge these kinds by the objects that are derived from them.
  ...NEVER_OF_GATEWAY_API,
};
