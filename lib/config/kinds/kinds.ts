/**
 * All kinds of configuration objects: their names and spec types.
 *
 * @module
 */
import type { AuthorizationPolicySpec } from "./authorization_policy/schema.ts";
import type { DestinationRuleSpec } from "./destination_rule/schema.ts";
import type { GatewaySpec } from "./gateway/schema.ts";
import type { TCPRouteSpec, TLSRouteSpec, UDPRouteSpec } from "./gateway_api/bytes_routes.ts";
import type { ApiGatewaySpec, GatewayClassSpec, ListenerSetSpec } from "./gateway_api/gateway.ts";
import type { GRPCRouteSpec } from "./gateway_api/grpc_route.ts";
import type { HTTPRouteSpec } from "./gateway_api/http_route.ts";
import type { InferencePoolSpec } from "./gateway_api/inference_pool.ts";
import type { BackendTLSPolicySpec, ReferenceGrantSpec } from "./gateway_api/policies.ts";
import type { XBackendSpec, XBackendTrafficPolicySpec, XMeshSpec } from "./gateway_api/experimental.ts";
import type { PeerAuthenticationSpec } from "./peer_authentication/schema.ts";
import type { ProxyConfigSpec } from "./proxy_config/schema.ts";
import type { ProxyFilterSpec } from "./proxy_filter/schema.ts";
import type { RequestAuthenticationSpec } from "./request_authentication/schema.ts";
import type { ServiceEntrySpec } from "./service_entry/schema.ts";
import type { SidecarSpec } from "./sidecar/schema.ts";
import type { TelemetrySpec } from "./telemetry/schema.ts";
import type { VirtualServiceSpec } from "./virtual_service/schema.ts";
import type { WasmPluginSpec } from "./wasm_plugin/schema.ts";
import type { WorkloadEntrySpec } from "./workload_entry/schema.ts";
import type { WorkloadGroupSpec } from "./workload_group/schema.ts";

export {
  GATEWAY_API_KINDS,
  type GatewayApiKind,
  isClusterWideKind,
  isExperimentalKind,
  isGatewayApiKind,
  type Kind,
  KINDS,
  MESH_KINDS,
  type MeshKind,
} from "../spelling/kind_names.ts";
export type * from "../schema/json.ts";
export type * from "./common/schema.ts";
export type * from "./authorization_policy/schema.ts";
export type * from "./destination_rule/schema.ts";
export type * from "./gateway/schema.ts";
export type * from "./gateway_api/bytes_routes.ts";
export type * from "./gateway_api/common.ts";
export type * from "./gateway_api/experimental.ts";
export type * from "./gateway_api/gateway.ts";
export type * from "./gateway_api/grpc_route.ts";
export type * from "./gateway_api/http_route.ts";
export type * from "./gateway_api/inference_pool.ts";
export type * from "./gateway_api/policies.ts";
export type * from "./peer_authentication/schema.ts";
export type * from "./proxy_config/schema.ts";
export type * from "./proxy_filter/schema.ts";
export type * from "./request_authentication/schema.ts";
export type * from "./service_entry/schema.ts";
export type * from "./sidecar/schema.ts";
export type * from "./telemetry/schema.ts";
export type * from "./virtual_service/schema.ts";
export type * from "./wasm_plugin/schema.ts";
export type * from "./workload_entry/schema.ts";
export type * from "./workload_group/schema.ts";

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
  GatewayClass: GatewayClassSpec;
  ApiGateway: ApiGatewaySpec;
  ListenerSet: ListenerSetSpec;
  HTTPRoute: HTTPRouteSpec;
  GRPCRoute: GRPCRouteSpec;
  TLSRoute: TLSRouteSpec;
  TCPRoute: TCPRouteSpec;
  UDPRoute: UDPRouteSpec;
  ReferenceGrant: ReferenceGrantSpec;
  BackendTLSPolicy: BackendTLSPolicySpec;
  XBackend: XBackendSpec;
  XBackendTrafficPolicy: XBackendTrafficPolicySpec;
  XMesh: XMeshSpec;
  InferencePool: InferencePoolSpec;
}
