/**
 * The clusters for datagrams: one per UDP port of a service. Only gateways with a server for UDP have these clusters.
 *
 * @module
 */
import type { Reader } from "../reader/reader.ts";
import { destinationOfPort, type DestinationPlan } from "./plan.ts";

/** Name of the cluster of a UDP port. A service may have a TCP port with the same number. */
export function datagramClusterName(port: number, host: string): string {
  return `outbound_udp|${port}||${host}`;
}

/**
 * The clusters for datagrams to a host. Empty when the host is not visible, when the host is an alias, or when requests
 * determine its address.
 */
export function datagramDestinations(read: Reader, host: string): DestinationPlan[] {
  const service = read.service(host);
  const ports = service?.ports.filter(({ protocol }) => protocol === "UDP") ?? [];
  if (service === undefined || service.externalName !== undefined || ports.length === 0) return [];
  const rule = read.destinationRule(host);
  return ports.flatMap((port) => {
    const d = destinationOfPort(read, service, port, rule);
    if (d.discovery === "dynamicDns") return [];
    // The dialled address is the gateway's own.
    const discovery = d.discovery === "originalDst" ? "eds" : d.discovery;
    return [{ ...d, name: datagramClusterName(port.port, service.hostname), discovery }];
  });
}
