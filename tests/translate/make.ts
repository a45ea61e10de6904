/**
 * Short forms of services, endpoints and rules, for tests of builders.
 *
 * @module
 */
import type { DestinationRuleSpec } from "../../lib/config/kinds/kinds.ts";
import type { EffectiveDestinationRule } from "../../lib/mesh/types.ts";
import { plainEndpoint, plainService } from "../../lib/registry/mock.ts";
import type { Endpoint, Service, ServicePort } from "../../lib/registry/types.ts";

/** A service of the orchestrator in namespace `default`. Default: one HTTP port 80. */
export function service(hostname: string, given: Partial<Service> = {}): Service {
  return plainService({ hostname, provider: "Orch", ports: [port(80)], ...given });
}

/** A port, named after its protocol and number: `http-80`. */
export function port(number: number, protocol: ServicePort["protocol"] = "HTTP"): ServicePort {
  return { name: `${protocol.toLowerCase()}-${number}`, port: number, protocol };
}

/** A healthy endpoint behind port `http-80`. */
export function endpoint(address: string, given: Partial<Endpoint> = {}): Endpoint {
  return plainEndpoint({ address, port: 8080, portName: "http-80", clusterId: "Orch", ...given });
}

/** A destination rule in force. */
export function rule(host: string, spec: Omit<DestinationRuleSpec, "host">): EffectiveDestinationRule {
  return { name: "r", namespace: "default", spec: { host, ...spec }, causes: ["DestinationRule/default/r"] };
}
