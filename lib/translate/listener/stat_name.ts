/**
 * Statistics prefixes by the patterns of the mesh configuration (`inboundClusterStatName`, `outboundClusterStatName`).
 *
 * @module
 */
import type { Service } from "../../registry/types.ts";

/** The values of a pattern's variables. */
export interface StatNameFacts {
  readonly host: string;
  /** The host's service, if known: orchestrator services have a short name. */
  readonly service?: Service;
  readonly subset: string;
  readonly port: number;
  readonly portName: string;
}

/**
 * Fills a pattern: `%SERVICE%` (name.namespace of an orchestrator's service, else the host), `%SERVICE_NAME%`,
 * `%SERVICE_FQDN%`, `%SERVICE_PORT%`, `%SERVICE_PORT_NAME%`, `%SUBSET_NAME%`, `%TARGET_PORT%` (always 0, as in Istio).
 */
export function statName(pattern: string, facts: StatNameFacts): string {
  const orch = facts.service?.provider === "Orch" ? facts.service : undefined;
  const values: Readonly<Record<string, string>> = {
    SERVICE: orch ? `${orch.name}.${orch.namespace}` : facts.host,
    SERVICE_NAME: orch ? orch.name : facts.host,
    SERVICE_FQDN: facts.host,
    SUBSET_NAME: facts.subset,
    TARGET_PORT: "0",
    SERVICE_PORT: String(facts.port),
    SERVICE_PORT_NAME: facts.portName,
  };
  return pattern.replaceAll(/%([A-Z_]+)%/g, (whole, name: string) => values[name] ?? whole);
}
