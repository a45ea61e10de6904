/**
 * The judges, by kind.
 *
 * @module
 */
import type { Kind } from "../config/types.ts";
import type { AnyJudge, Judge } from "./judge.ts";
import { judgeDestinationRule } from "./destination_rule.ts";
import { judgeGateway } from "./gateway.ts";
import { judgeProxyFilter, judgeSelecting } from "./selecting.ts";
import { judgeServiceEntry } from "./service_entry.ts";
import { judgeSidecar } from "./sidecar.ts";
import { judgeTelemetry } from "./telemetry.ts";
import { judgeVirtualService } from "./virtual_service.ts";

function any<K extends Kind>(judge: Judge<K>): AnyJudge {
  return judge as unknown as AnyJudge;
}

const NEVER: AnyJudge = () => [];

/** One for each kind. */
export const JUDGES: Readonly<Record<Kind, AnyJudge>> = {
  VirtualService: any<"VirtualService">(judgeVirtualService),
  DestinationRule: any<"DestinationRule">(judgeDestinationRule),
  Gateway: any<"Gateway">(judgeGateway),
  ServiceEntry: any<"ServiceEntry">(judgeServiceEntry),
  Sidecar: any<"Sidecar">(judgeSidecar),
  ProxyFilter: any<"ProxyFilter">(judgeProxyFilter),
  AuthorizationPolicy: any<"AuthorizationPolicy">(judgeSelecting),
  RequestAuthentication: any<"RequestAuthentication">(judgeSelecting),
  PeerAuthentication: any<"PeerAuthentication">(judgeSelecting),
  WasmPlugin: any<"WasmPlugin">(judgeSelecting),
  Telemetry: any<"Telemetry">(judgeTelemetry),
  // It introduces a workload, which may be a client alone.
  WorkloadEntry: NEVER,
  // Agents read it when workloads register, and when proxies start; no resource is made from either.
  WorkloadGroup: NEVER,
  ProxyConfig: NEVER,
};
