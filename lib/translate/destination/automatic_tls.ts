/**
 * Automatic mutual TLS, for services of the mesh without a rule about TLS. Each endpoint announces whether it accepts
 * mutual TLS. Cluster and endpoint builders must agree on when the announcement counts.
 *
 * @module
 */
import type { Endpoint, Service } from "../../registry/types.ts";
import type { Reader } from "../reader/reader.ts";
import { offersPeerTls } from "../tls/secret_source.ts";
import type { DestinationPlan } from "./plan.ts";

/**
 * Whether endpoints of the service are marked for a proxy: the service is in the mesh, and the proxy has an identity.
 */
export function marksEndpoints(read: Reader, service: Service): boolean {
  return !service.meshExternal && read.mesh().enableAutoMtls && offersPeerTls(read);
}

/** Whether an endpoint accepts mutual TLS: by label, unless a policy turns mutual TLS off for the port. */
export function acceptsPeerTls(read: Reader, { tlsMode, namespace, labels, port }: Endpoint): boolean {
  return tlsMode === "mesh" && read.refusedPeerTls(namespace)?.has(labels, port) !== true;
}

/**
 * Whether connections to addresses chosen by clients use mutual TLS. All connections of a cluster are alike, so every
 * endpoint of the port must accept mutual TLS by label. A policy that turns mutual TLS off counts only if it concerns
 * every endpoint: a policy for a single endpoint must not make connections to the others plain.
 */
export function dialsByPeerTls(read: Reader, { hostname, namespace }: Service, portName: string): boolean {
  if (read.identities(hostname)?.mutualPorts.has(portName) !== true) return false;
  // Endpoints come and go, so they are read only where a policy turns mutual TLS off.
  if (read.refusedPeerTls(namespace) === undefined) return true;
  return read.endpoints(hostname).some((one) => one.portName === portName && acceptsPeerTls(read, one));
}

/** Whether no rule asks for plain connections, or for TLS that the mesh's gateways do not know. */
export function asksForPeerTls({ policy: { tls } }: DestinationPlan): boolean {
  return tls === undefined || tls.mode === "MESH_MUTUAL";
}
