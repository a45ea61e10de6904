/**
 * Counts over all services and endpoints, for gauges: computed when a scrape asks, never per event.
 *
 * @module
 */
import type { Endpoint, Service, ServiceKey } from "../../registry/types.ts";
import { resolutionOf, serviceKey } from "../../registry/types.ts";

/** The values of the gauges. A port is one cluster; subsets are not counted. */
export interface WorldFacts {
  /** Ports with EDS endpoints, none of which takes requests. */
  readonly withoutInstances: number;
  /** Ports with endpoints that proxies resolve, and no endpoint at all. */
  readonly dnsWithoutEndpoints: number;
  /** Ports of a host that services of several namespaces define. A proxy gets one of the services. */
  readonly duplicates: number;
  /** Unhealthy endpoints. */
  readonly notReady: number;
}

/** Counts the values. Looks once at each service and endpoint. */
export function worldFacts(
  services: Iterable<Service>,
  endpointsOf: (key: ServiceKey) => readonly Endpoint[],
): WorldFacts {
  const facts = { withoutInstances: 0, dnsWithoutEndpoints: 0, duplicates: 0, notReady: 0 };
  const ports = new Set<string>();
  for (const service of services) {
    // An alias has its target's endpoints.
    if (service.externalName !== undefined) continue;
    const serving = new Set<string>();
    for (const { portName, health } of endpointsOf(serviceKey(service))) {
      if (health === "unhealthy") facts.notReady++;
      else serving.add(portName);
    }
    for (const servicePort of service.ports) {
      const { name, port, protocol } = servicePort;
      if (protocol === "UDP") continue;
      const id = `${port}/${service.hostname}`;
      if (ports.has(id)) facts.duplicates++;
      ports.add(id);
      if (serving.has(name)) continue;
      const resolution = resolutionOf(service, servicePort);
      if (resolution === "static") facts.withoutInstances++;
      if (resolution === "dns" || resolution === "dnsRoundRobin") facts.dnsWithoutEndpoints++;
    }
  }
  return facts;
}
