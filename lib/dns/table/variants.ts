/**
 * The names that a host answers to.
 *
 * @module
 */
import { type Locality, type NameInfo, ORCHESTRATOR_REGISTRIES } from "./types.ts";

/**
 * All names of a host for a workload, the host itself first, without a dot at their ends, in lower case.
 *
 * A service of the orchestrator in the workload's own domain also answers to `name.namespace` and `name.namespace.svc`
 * (the domain's first label), to its further hosts, and within its namespace to `name`. In other domains it does not:
 * names without a domain could mean a service of either cluster.
 */
export function hostNames(host: string, info: NameInfo, locality: Locality): string[] {
  const full = trimmed(host);
  const names = [full];
  const { shortname, namespace } = info;
  const domain = serviceDomain(locality);
  const ofOrchestrator = ORCHESTRATOR_REGISTRIES.has(info.registry ?? "");
  if (!ofOrchestrator || domain === "" || !full.endsWith(`.${domain}`)) return names;
  if (shortname !== undefined && shortname !== "" && namespace !== undefined && namespace !== "") {
    names.push(`${shortname}.${namespace}`);
    if (namespace === locality.namespace) names.push(shortname);
    names.push(`${shortname}.${namespace}.${domain.split(".", 1)[0]}`);
  }
  names.push(...(info.altHosts ?? []));
  return [...new Set(names.map(trimmed))];
}

/** The part of the workload's domain that its services share: `svc.cluster.local`. */
function serviceDomain({ namespace, domain }: Locality): string {
  const whole = trimmed(domain);
  const own = `${namespace.toLowerCase()}.`;
  return namespace !== "" && whole.startsWith(own) ? whole.slice(own.length) : whole;
}

/** Lower case, without the dot at the end. */
export function trimmed(name: string): string {
  const lower = name.toLowerCase();
  return lower.endsWith(".") ? lower.slice(0, -1) : lower;
}
