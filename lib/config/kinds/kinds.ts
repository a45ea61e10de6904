/**
 * All kinds of configuration objects: their names and spec types.
 *
 * @module
 */
import type { AuthorizationPolicySpec } from "./authorization_policy/types.ts";
import type { DestinationRuleSpec } from "./destination_rule/types.ts";
import type { GatewaySpec } from "./gateway/types.ts";
import type { PeerAuthenticationSpec } from "./peer_authentication/types.ts";
import type { ProxyConfigSpec } from "./proxy_config/types.ts";
import type { ProxyFilterSpec } from "./proxy_filter/types.ts";
import type { RequestAuthenticationSpec } from "./request_authentication/types.ts";
import type { ServiceEntrySpec } from "./service_entry/types.ts";
import type { SidecarSpec } from "./sidecar/types.ts";
import type { TelemetrySpec } from "./telemetry/types.ts";
import type { VirtualServiceSpec } from "./virtual_service/types.ts";
import type { WasmPluginSpec } from "./wasm_plugin/types.ts";
import type { WorkloadEntrySpec } from "./workload_entry/types.ts";
import type { WorkloadGroupSpec } from "./workload_group/types.ts";

export type * from "./common/types.ts";
export type * from "./authorization_policy/types.ts";
export type * from "./destination_rule/types.ts";
export type * from "./gateway/types.ts";
export type * from "./peer_authentication/types.ts";
export type * from "./proxy_config/types.ts";
export type * from "./proxy_filter/types.ts";
export type * from "./request_authentication/types.ts";
export type * from "./service_entry/types.ts";
export type * from "./sidecar/types.ts";
export type * from "./telemetry/types.ts";
export type * from "./virtual_service/types.ts";
export type * from "./wasm_plugin/types.ts";
export type * from "./workload_entry/types.ts";
export type * from "./workload_group/types.ts";

/** Kind name to spec type. */
export interface KindSpecs {
  VirtualService: VirtualServiceSpec;
  DestinationRule: DestinationRuleSpec;
  Gateway: GatewaySpec;
  ServiceEntry: ServiceEntrySpec;
  WorkloadEntry: WorkloadEntrySpec;
  WorkloadGroup: WorkloadGroupSpec;
  Sidecar: SidecarSpec;
  ProxyConfig: ProxyConfigSpec;
  ProxyFilter: ProxyFilterSpec;
  AuthorizationPolicy: AuthorizationPolicySpec;
  RequestAuthentication: RequestAuthenticationSpec;
  PeerAuthentication: PeerAuthenticationSpec;
  Telemetry: TelemetrySpec;
  WasmPlugin: WasmPluginSpec;
}

/** Name of a kind. */
export type Kind = keyof KindSpecs;

/** Every kind, in the order in which tables and pages list them. */
export const KINDS: readonly Kind[] = [
  "VirtualService",
  "DestinationRule",
  "Gateway",
  "ServiceEntry",
  "WorkloadEntry",
  "WorkloadGroup",
  "Sidecar",
  "ProxyConfig",
  "ProxyFilter",
  "AuthorizationPolicy",
  "RequestAuthentication",
  "PeerAuthentication",
  "Telemetry",
  "WasmPlugin",
];
