/**
 * The references of objects of the Gateway API: parents, backends, targets of policies.
 *
 * @module
 */
import type { AnyConfigObject } from "../config/types.ts";
import { EXPERIMENTAL_GROUP, GATEWAY_API_GROUP, INFERENCE_GROUP, isIstioGroup } from "../config/spelling/spelling.ts";
import { fullHost } from "../mesh/names.ts";

/** Something named by an object. */
export interface NamedReference {
  /** `host`: a full host name; else the key of an object. */
  readonly sort: "host" | "object";
  readonly name: string;
}

/** A reference of the Gateway API, with its defaults filled in. */
interface WrittenReference {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  /** Absent: the namespace of the referring object. */
  readonly namespace?: string;
}

/** The key of a named object: a policy or a route never names a Gateway of the mesh. */
export function targetKey(kind: string, namespace: string, name: string): string {
  if (kind === "GatewayClass") return `GatewayClass//${name}`;
  return `${kind === "Gateway" ? "ApiGateway" : kind}/${namespace}/${name}`;
}

/** The references of an object of the Gateway API; empty for other objects. */
export function gatewayApiReferences(object: AnyConfigObject, domainSuffix: string): NamedReference[] {
  return writtenReferences(object).flatMap((one) => named(one, object.meta.namespace, domainSuffix) ?? []);
}

function writtenReferences(object: AnyConfigObject): readonly WrittenReference[] {
  switch (object.kind) {
    case "HTTPRoute":
    case "GRPCRoute": {
      const { parentRefs = [], rules = [] } = object.spec;
      const backends = rules.flatMap(({ backendRefs = [] }) => backendRefs);
      const mirrors = rules.flatMap(({ filters = [] }) => filters.flatMap(({ requestMirror }) => requestMirror ?? []));
      return [...parentRefs, ...backends, ...mirrors.map(({ backendRef }) => backendRef)];
    }
    case "TLSRoute":
    case "TCPRoute":
    case "UDPRoute":
      return [...object.spec.parentRefs ?? [], ...object.spec.rules.flatMap(({ backendRefs }) => backendRefs)];
    case "ListenerSet":
      return [object.spec.parentRef];
    case "BackendTLSPolicy":
    case "XBackendTrafficPolicy":
      return object.spec.targetRefs;
    case "InferencePool":
      return object.spec.endpointPickerRef === undefined ? [] : [object.spec.endpointPickerRef];
    default:
      return [];
  }
}

/** Undefined: the kind has no page. */
function named(reference: WrittenReference, own: string, domainSuffix: string): NamedReference | undefined {
  const { group, kind, name, namespace = own } = reference;
  const isOfMesh = group === "networking.mesh.io" || isIstioGroup(`${group}/`);
  if (group === "" && kind === "Service") return { sort: "host", name: fullHost(name, namespace, domainSuffix) };
  if (isOfMesh && kind === "Hostname") return { sort: "host", name };
  if (isOfMesh && kind === "ServiceEntry") return { sort: "object", name: `ServiceEntry/${namespace}/${name}` };
  if (group === INFERENCE_GROUP && kind === "InferencePool") {
    return { sort: "object", name: `${kind}/${namespace}/${name}` };
  }
  const isExternal = group === EXPERIMENTAL_GROUP && kind === "XBackend";
  if (group !== GATEWAY_API_GROUP && !isExternal) return undefined;
  return { sort: "object", name: targetKey(kind, namespace, name) };
}
