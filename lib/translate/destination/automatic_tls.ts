/**
 * Automatic mutual TLS: a service of the mesh for which no rule says anything about TLS. Each endpoint says by itself
 * whether it accepts it; clusters and endpoints must agree that it is asked.
 *
 * @module
 */
import type { Endpoint, Service } from "../../registry/types.ts";
import type { Reader } from "../reader/reader.ts";
import { offersPeerTls } from "../tls/secret_source.ts";
import type { DestinationPlan } from "./plan.ts";

/** Whether endpoints of the service are marked for a proxy: it can show an identity, and the service is of the mesh. */
export function marksEndpoints(read: Reader, service: Service): boolean {
  return !service.meshExternal && read.mesh().enableAutoMtls && offersPeerTls(read);
}

/** Whether an endpoint accepts mutual TLS: by its label, unless a policy has turned it off for the port. */
export function acceptsPeerTls(read: Reader, { tlsMode, namespace, labels, port }: Endpoint): boolean {
  return tlsMode === "mesh" && read.refusedPeerTls(namespace)?.has(labels, port) !== true;
}

/**
 * Whether connections to addresses that clients choose themselves are of mutual TLS: those of one cluster are alike. All
 * endpoints of the port have to accept it by their labels, and a policy that turns it off has to concern all of them: one
 * alone must not make the connections to the others plain.
 */
export function dialsByPeerTls(read: Reader, { hostname, namespace }: Service, portName: string): boolean {
  if (read.identities(hostname)?.mutualPorts.has(portName) !== true) return false;
  // Endpoints come and go: they are asked only where a policy turns mutual TLS off.
  if (read.refusedPeerTls(namespace) === undefined) return true;
  return read.endpoints(hostname).some((one) => one.portName === portName && acceptsPeerTls(read, one));
}

/** Whether no rule says that connections are plain, or of a TLS that the mesh's gateways do not know. */
export function asksForPeerTls({ policy: { tls } }: DestinationPlan): boolean {
  return tls === undefined || tls.mode === "MESH_MUTUAL";
}
