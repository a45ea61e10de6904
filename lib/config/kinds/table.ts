/**
 * One line per kind: schema and rules. A new kind is a folder and a line here.
 *
 * @module
 */
import type { Field } from "../schema/field.ts";
import { authorizationPolicy } from "./authorization_policy/schema.ts";
import { validateAuthorizationPolicy } from "./authorization_policy/validate.ts";
import { destinationRule } from "./destination_rule/schema.ts";
import { validateDestinationRule } from "./destination_rule/validate.ts";
import { gateway } from "./gateway/schema.ts";
import { validateGateway } from "./gateway/validate.ts";
import { tcpRoute, tlsRoute, udpRoute } from "./gateway_api/bytes_routes.ts";
import { apiGateway, gatewayClass, listenerSet } from "./gateway_api/gateway.ts";
import { xBackend, xBackendTrafficPolicy, xMesh } from "./gateway_api/experimental.ts";
import { grpcRoute } from "./gateway_api/grpc_route.ts";
import { httpRoute } from "./gateway_api/http_route.ts";
import { inferencePool } from "./gateway_api/inference_pool.ts";
import { backendTlsPolicy, referenceGrant } from "./gateway_api/policies.ts";
import {
  validateApiGateway,
  validateBackendTlsPolicy,
  validateGatewayClass,
  validateInferencePool,
  validateListenerSet,
  validateReferenceGrant,
} from "./gateway_api/validate.ts";
import { validateXBackend, validateXBackendTrafficPolicy, validateXMesh } from "./gateway_api/validate_experimental.ts";
import {
  validateBytesRoute,
  validateGrpcRoute,
  validateHttpRoute,
  validateTlsRoute,
} from "./gateway_api/validate_routes.ts";
import type { Kind, KindSpecs } from "./kinds.ts";
import { peerAuthentication } from "./peer_authentication/schema.ts";
import { validatePeerAuthentication } from "./peer_authentication/validate.ts";
import { proxyConfig } from "./proxy_config/schema.ts";
import { validateProxyConfig } from "./proxy_config/validate.ts";
import { proxyFilter } from "./proxy_filter/schema.ts";
import { validateProxyFilter } from "./proxy_filter/validate.ts";
import { requestAuthentication } from "./request_authentication/schema.ts";
import { validateRequestAuthentication } from "./request_authentication/validate.ts";
import { serviceEntry } from "./service_entry/schema.ts";
import { validateServiceEntry } from "./service_entry/validate.ts";
import { sidecar } from "./sidecar/schema.ts";
import { validateSidecar } from "./sidecar/validate.ts";
import { telemetry } from "./telemetry/schema.ts";
import { validateTelemetry } from "./telemetry/validate.ts";
import type { Validate } from "./validate.ts";
import { virtualService } from "./virtual_service/schema.ts";
import { validateVirtualService } from "./virtual_service/validate.ts";
import { wasmPlugin } from "./wasm_plugin/schema.ts";
import { validateWasmPlugin } from "./wasm_plugin/validate.ts";
import { workloadEntry } from "./workload_entry/schema.ts";
import { validateWorkloadEntry } from "./workload_entry/validate.ts";
import { workloadGroup } from "./workload_group/schema.ts";
import { validateWorkloadGroup } from "./workload_group/validate.ts";

/** Schema and rules of a kind. */
export interface KindDefinition<S> {
  readonly schema: Field<S>;
  readonly validate: Validate<S>;
}

/** Schema and rules of every kind. */
export const KIND_TABLE: { readonly [K in Kind]: KindDefinition<KindSpecs[K]> } = {
  VirtualService: { schema: virtualService, validate: validateVirtualService },
  DestinationRule: { schema: destinationRule, validate: validateDestinationRule },
  Gateway: { schema: gateway, validate: validateGateway },
  ServiceEntry: { schema: serviceEntry, validate: validateServiceEntry },
  WorkloadEntry: { schema: workloadEntry, validate: validateWorkloadEntry },
  WorkloadGroup: { schema: workloadGroup, validate: validateWorkloadGroup },
  Sidecar: { schema: sidecar, validate: validateSidecar },
  ProxyConfig: { schema: proxyConfig, validate: validateProxyConfig },
  ProxyFilter: { schema: proxyFilter, validate: validateProxyFilter },
  AuthorizationPolicy: { schema: authorizationPolicy, validate: validateAuthorizationPolicy },
  RequestAuthentication: { schema: requestAuthentication, validate: validateRequestAuthentication },
  PeerAuthentication: { schema: peerAuthentication, validate: validatePeerAuthentication },
  Telemetry: { schema: telemetry, validate: validateTelemetry },
  WasmPlugin: { schema: wasmPlugin, validate: validateWasmPlugin },
  GatewayClass: { schema: gatewayClass, validate: validateGatewayClass },
  ApiGateway: { schema: apiGateway, validate: validateApiGateway },
  ListenerSet: { schema: listenerSet, validate: validateListenerSet },
  HTTPRoute: { schema: httpRoute, validate: validateHttpRoute },
  GRPCRoute: { schema: grpcRoute, validate: validateGrpcRoute },
  TLSRoute: { schema: tlsRoute, validate: validateTlsRoute },
  TCPRoute: { schema: tcpRoute, validate: validateBytesRoute },
  UDPRoute: { schema: udpRoute, validate: validateBytesRoute },
  ReferenceGrant: { schema: referenceGrant, validate: validateReferenceGrant },
  BackendTLSPolicy: { schema: backendTlsPolicy, validate: validateBackendTlsPolicy },
  XBackend: { schema: xBackend, validate: validateXBackend },
  XBackendTrafficPolicy: { schema: xBackendTrafficPolicy, validate: validateXBackendTrafficPolicy },
  XMesh: { schema: xMesh, validate: validateXMesh },
  InferencePool: { schema: inferencePool, validate: validateInferencePool },
};
