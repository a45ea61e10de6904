/**
 * The names of all kinds.
 *
 * @module
 */

/** The kinds of the mesh: groups of this project and of Istio. */
export const MESH_KINDS = [
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
] as const;

/** Experimental kinds of the Gateway API (group `gateway.networking.x-k8s.io`), read with PILOT_ENABLE_ALPHA_GATEWAY_API. */
export const EXPERIMENTAL_KINDS = ["XBackend", "XBackendTrafficPolicy", "XMesh"] as const;

/**
 * The kinds of the Gateway API (group `gateway.networking.k8s.io`), its experimental kinds, and the kinds of its Inference
 * Extension (group `inference.networking.k8s.io`). `ApiGateway` is the first group's `Gateway`, because the mesh has a kind
 * of this name.
 */
export const GATEWAY_API_KINDS = [
  "GatewayClass",
  "ApiGateway",
  "ListenerSet",
  "HTTPRoute",
  "GRPCRoute",
  "TLSRoute",
  "TCPRoute",
  "UDPRoute",
  "ReferenceGrant",
  "BackendTLSPolicy",
  ...EXPERIMENTAL_KINDS,
  "InferencePool",
] as const;

/** Every kind, in the order of tables and pages. */
export const KINDS = [...MESH_KINDS, ...GATEWAY_API_KINDS] as const;

/** Name of a kind of the mesh. */
export type MeshKind = (typeof MESH_KINDS)[number];

/** Name of a kind of the Gateway API. */
export type GatewayApiKind = (typeof GATEWAY_API_KINDS)[number];

/** Name of an experimental kind of the Gateway API. */
export type ExperimentalKind = (typeof EXPERIMENTAL_KINDS)[number];

/** Name of a kind. */
export type Kind = MeshKind | GatewayApiKind;

/** Whether objects of a kind are in no namespace: their keys are `GatewayClass//NAME`. */
export function isClusterWideKind(kind: Kind): boolean {
  return kind === "GatewayClass" || kind === "XMesh";
}

/** Whether a kind belongs to the Gateway API. */
export function isGatewayApiKind(kind: string): kind is GatewayApiKind {
  return (GATEWAY_API_KINDS as readonly string[]).includes(kind);
}

/** Whether a kind is an experimental kind of the Gateway API. */
export function isExperimentalKind(kind: string): kind is ExperimentalKind {
  return (EXPERIMENTAL_KINDS as readonly string[]).includes(kind);
}
