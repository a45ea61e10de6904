/**
 * The clusters to which a gateway between networks forwards connections, unopened: for each port of a service of scope
 * GLOBAL the workloads of the gateway's own network.
 *
 * @module
 */
import { FORWARD_INNER } from "../hbone/names.ts";
import type { Reader } from "../reader/reader.ts";
import { type DestinationPlan, destinations } from "./plan.ts";

/** Name of the cluster of a port. */
export function forwardedClusterName(port: number, host: string): string {
  return `${FORWARD_INNER}|${port}||${host}`;
}

/** The clusters of a host. Empty when other networks do not reach the host, or when the host is not visible. */
export function forwardedDestinations(read: Reader, host: string): DestinationPlan[] {
  if (!read.isGlobal(host)) return [];
  // A client names no subset.
  return destinations(read, host).filter(({ subset }) => subset === undefined)
    .map((d) => ({ ...d, name: forwardedClusterName(d.port.port, host), discovery: "eds" }));
}
