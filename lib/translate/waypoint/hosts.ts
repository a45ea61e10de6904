/**
 * The hosts whose clusters a waypoint needs.
 *
 * @module
 */
import { destinationHosts } from "../../mesh/virtual_service_index.ts";
import { settingsHosts } from "../gateway/hosts.ts";
import type { OpenReader } from "../reader/reader.ts";
import { isNetworkGateway, waypointName } from "../reader/waypoint_role.ts";
import { serviceBehind } from "../route/destination.ts";
import { rulesAtWaypoint } from "./rules.ts";

/** The hosts of the services behind the waypoint, the destinations of their rules, and hosts that settings name. */
export function waypointHosts(read: OpenReader): Set<string> {
  if (isNetworkGateway(read)) return settingsHosts(read, []);
  const { services } = read.waypoint(read.derived("waypointName", waypointName));
  // Chains ask for tokens, and only a visible service has chains.
  const hasChains = services.some((service) => read.service(service.hostname) === service);
  const hosts = settingsHosts(read, hasChains ? undefined : []);
  for (const service of services) {
    hosts.add(service.hostname);
    for (const protocol of ["http", "tls", "tcp"] as const) {
      for (const rules of rulesAtWaypoint(read, service, protocol)) {
        for (const host of destinationHosts(rules)) hosts.add(serviceBehind(read, host).host);
      }
    }
  }
  return hosts;
}
