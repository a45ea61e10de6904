/**
 * The registries' facts about the workload of a proxy, the same as the facts about the workload's endpoints. The proxy
 * itself reports only the facts that its agent was given.
 *
 * @module
 */
import { canonicalIp } from "./address.ts";
import { ownWorkloads, type Placements, type ProxyPlace, type Services } from "./inbound.ts";
import type { Labels } from "./labels.ts";

/** Facts that a workload's proxy may lack. */
export interface KnownWorkload {
  readonly labels: Labels;
  /** `region/zone/subzone`, or empty. */
  readonly locality: string;
  readonly network: string;
}

/**
 * The workload at the addresses of a proxy: a pod or an entry; else the facts of an endpoint there. Only workloads of
 * the proxy's own namespace count: a proxy with the address of another namespace learns and gets nothing. Undefined:
 * unknown.
 */
export function knownWorkload(
  proxy: ProxyPlace,
  index: Placements,
  services: Pick<Services, "service" | "workloadsAt">,
): KnownWorkload | undefined {
  for (const address of proxy.addresses.map(canonicalIp)) {
    const [workload, ...others] = ownWorkloads(proxy, services.workloadsAt(address))
      .filter(({ namespace }) => namespace === proxy.namespace);
    // Several pods share the address of a node: the proxy may belong to any of the pods.
    if (workload !== undefined && others.length === 0) return workload;
    if (others.length > 0) continue;
    const placed = index.byAddress(address).find(({ service }) =>
      services.service(service)?.namespace === proxy.namespace
    );
    if (placed !== undefined) return placed.endpoint;
  }
  return undefined;
}
