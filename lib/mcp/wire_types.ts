/**
 * The kinds of the mesh as control planes exchange them over xDS. Type URLs and messages are Istio's
 * (`pkg/config/schema/gvk` and the protos of istio.io/api), so that Istio's servers and clients can connect unchanged.
 *
 * @module
 */

/** A kind on the wire. */
export interface KindWireType {
  /** This project's name of the kind. */
  readonly kind: string;
  /** `group/version` of the objects. */
  readonly apiVersion: string;
  /** The kind in Istio's spelling. */
  readonly istioKind: string;
  /** Full name of the spec's message. */
  readonly message: string;
}

/** The message around an object: metadata and spec. */
export const MCP_RESOURCE = "istio.mcp.v1alpha1.Resource";

function wireType(kind: string, group: string, version: string, message: string, istioKind = kind): KindWireType {
  return { kind, apiVersion: `${group}.istio.io/${version}`, istioKind, message: `istio.${message}.${istioKind}` };
}

export const KIND_WIRE_TYPES: readonly KindWireType[] = [
  wireType("VirtualService", "networking", "v1", "networking.v1alpha3"),
  wireType("DestinationRule", "networking", "v1", "networking.v1alpha3"),
  wireType("Gateway", "networking", "v1", "networking.v1alpha3"),
  wireType("ServiceEntry", "networking", "v1", "networking.v1alpha3"),
  wireType("WorkloadEntry", "networking", "v1", "networking.v1alpha3"),
  wireType("WorkloadGroup", "networking", "v1", "networking.v1alpha3"),
  wireType("Sidecar", "networking", "v1", "networking.v1alpha3"),
  wireType("ProxyFilter", "networking", "v1alpha3", "networking.v1alpha3", "EnvoyFilter"),
  wireType("ProxyConfig", "networking", "v1beta1", "networking.v1beta1"),
  wireType("AuthorizationPolicy", "security", "v1", "security.v1beta1"),
  wireType("RequestAuthentication", "security", "v1", "security.v1beta1"),
  wireType("PeerAuthentication", "security", "v1", "security.v1beta1"),
  wireType("Telemetry", "telemetry", "v1", "telemetry.v1alpha1"),
  wireType("WasmPlugin", "extensions", "v1alpha1", "extensions.v1alpha1"),
];
