/**
 * Destinations of virtual services that no service has: requests that are routed there fail.
 *
 * @module
 */
import type { Destination } from "../config/kinds/kinds.ts";
import { wildcardsOver } from "./host_match.ts";
import type { ServiceIndex } from "./service_index.ts";
import type { EffectiveVirtualService } from "./types.ts";

/** A host that a virtual service routes to and that no service has. */
export interface ServicelessHost {
  readonly host: string;
  /** Keys of the objects that name it: the virtual service, and its delegates. */
  readonly causes: readonly string[];
}

/** All of them, each once for a virtual service. Costs one look at each destination. */
export function* servicelessHosts(
  virtualServices: Iterable<EffectiveVirtualService>,
  services: ServiceIndex,
): Iterable<ServicelessHost> {
  for (const { spec: { http = [], tcp = [], tls = [] }, causes } of virtualServices) {
    const missing = new Set<string>();
    const look = (destination: Destination | undefined) => {
      if (destination === undefined || services.has(destination.host)) return;
      if (!wildcardsOver(destination.host).some((pattern) => services.has(pattern))) missing.add(destination.host);
    };
    for (const { route = [], mirror, mirrors = [] } of http) {
      for (const { destination } of [...route, ...mirrors]) look(destination);
      look(mirror);
    }
    for (const { route = [] } of [...tcp, ...tls]) for (const { destination } of route) look(destination);
    for (const host of missing) yield { host, causes };
  }
}
