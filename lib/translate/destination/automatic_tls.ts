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

/** Whether no rule says that connections are plain, or of a TLS that the mesh's gateways do not know. */
export function asksForPeerTls({ policy: { tls } }: DestinationPlan): boolean {
  return tls === undefined || tls.mode === "MESH_MUTUAL";
}
