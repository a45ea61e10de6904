/**
 * What registries know of the workload beside a proxy: the same that they say of its endpoints. A proxy tells of itself
 * what its agent was given, which may be less.
 *
 * @module
 */
import { canonicalIp } from "./address.ts";
import { ownWorkloads, type Placements, type ProxyPlace, type Services } from "./inbound.ts";
import type { Labels } from "./labels.ts";

/** The facts of a workload that its proxy may lack. */
export interface KnownWorkload {
  readonly labels: Labels;
  /** `region/zone/subzone`, or empty. */
  readonly locality: string;
  readonly network: string;
}

/**
 * The workload at the addresses of a proxy: its pod or entry; else what an endpoint there says. Only of the proxy's own
 * namespace: whoever names an address of others learns and gets nothing by it. Undefined: nothing is known of it.
 */
export function knownWorkload(
  proxy: ProxyPlace,
  index: Placements,
  services: Pick<Services, "service" | "workloadsAt">,
): KnownWorkload | undefined {
  for (const address of proxy.addresses.map(canonicalIp)) {
    const [workload, ...others] = ownWorkloads(proxy, services.workloadsAt(address))
      .filter(({ namespace }) => namespace === proxy.namespace);
    // Pods that share the address of their node: nobody knows which of them it is.
    if (workload !== undefined && others.length === 0) return workload;
    if (others.length > 0) continue;
    const placed = index.byAddress(address).find(({ service }) =>
      services.service(service)?.namespace === proxy.namespace
    );
    if (placed !== undefined) return placed.endpoint;
  }
  return undefined;
}
