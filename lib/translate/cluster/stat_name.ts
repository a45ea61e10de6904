/**
 * Names of clusters in statistics.
 *
 * @module
 */
import type { Service, ServicePort } from "../../registry/types.ts";

/** Marks the end of a name in statistics. Names hold dots, so tag rules need a mark (Istio's convention). */
const END = ";";

/** The `alt_stat_name` of a cluster without a pattern. */
export function statName(clusterName: string): string {
  return clusterName + END;
}

/**
 * The `alt_stat_name` by a pattern of the mesh configuration (`outboundClusterStatName`, `inboundClusterStatName`):
 * `%SERVICE%` (`name.namespace` of orchestrator services, else the host), `%SERVICE_NAME%`, `%SERVICE_FQDN%`,
 * `%SUBSET_NAME%`, `%TARGET_PORT%`, `%SERVICE_PORT%`, `%SERVICE_PORT_NAME%`.
 *
 * @param targetPort Port at the workload; 0 on the client's side, where endpoints may differ.
 */
export function patternStatName(
  pattern: string,
  service: Service,
  port: ServicePort,
  subset: string,
  targetPort: number,
): string {
  const ofOrchestrator = service.provider === "Orch";
  const values: Readonly<Record<string, string>> = {
    SERVICE: ofOrchestrator ? `${service.name}.${service.namespace}` : service.hostname,
    SERVICE_NAME: ofOrchestrator ? service.name : service.hostname,
    SERVICE_FQDN: service.hostname,
    SUBSET_NAME: subset,
    TARGET_PORT: String(targetPort),
    SERVICE_PORT: String(port.port),
    SERVICE_PORT_NAME: port.name,
  };
  return pattern.replace(/%([A-Z_]+)%/g, (whole, name: string) => values[name] ?? whole) + END;
}
