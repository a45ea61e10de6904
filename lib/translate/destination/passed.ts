/**
 * The clusters to which a gateway passes connections from other networks, by the server name of the handshake.
 *
 * @module
 */
import { covers } from "../../mesh/host_match.ts";
import { asksForPeerTls } from "./automatic_tls.ts";
import { clusterSni } from "../tls/mesh_client.ts";
import type { Reader } from "../reader/reader.ts";
import { type DestinationPlan, destinations } from "./plan.ts";

/** Prefix of the clusters' names. */
export const PASSED_PREFIX = "outbound_.";

/**
 * The clusters of a host, one per outbound cluster. Names have the form of the clients' SNI, in lower case because
 * Envoy lowers server names. Empty when no server of the gateway has the host, when the host is outside the mesh, or
 * when requests determine its address.
 */
export function passedDestinations(read: Reader, host: string): DestinationPlan[] {
  const hosts = read.passedHosts();
  const service = hosts.length === 0 ? undefined : read.service(host);
  if (service === undefined || service.meshExternal) return [];
  const isPassed = hosts.some((own) =>
    (own.namespace === "*" || own.namespace === service.namespace) && covers(own.host, service.hostname)
  );
  if (!isPassed) return [];
  const named = new Map<string, DestinationPlan>();
  for (const d of destinations(read, host)) {
    const name = clusterSni(d.port.port, d.subset?.name ?? "", service.hostname).toLowerCase();
    // The dialled address would be the gateway itself.
    const discovery = d.discovery === "originalDst" ? "eds" : d.discovery;
    if (d.discovery === "dynamicDns" || named.has(name)) continue;
    if (asksForPeerTls(d)) named.set(name, { ...d, name, discovery });
  }
  return [...named.values()];
}
