/**
 * The outbound clusters of a host with their types: one plan, shared by cluster and endpoint builders.
 *
 *     service ports ─┐
 *                    ├─> port x (default, each subset) -> name, policy, discovery
 *     effective rule ┘
 *
 * @module
 */
import type { BackendTls } from "../../config/kinds/destination_rule/internal.ts";
import type { Subset } from "../../config/kinds/destination_rule/schema.ts";
import type { EffectiveDestinationRule } from "../../mesh/types.ts";
import { portCauses, type Resolution, resolutionOf, type Service, type ServicePort } from "../../registry/types.ts";
import { aspect } from "../reader/aspect.ts";
import type { Reader } from "../reader/reader.ts";
import { withBackendTls } from "./backend_tls.ts";
import { clusterName } from "./cluster_name.ts";
import { type EffectivePolicy, portPolicy, subsetPolicy } from "./policy.ts";

/**
 * How the proxy finds endpoints: over EDS, by resolving endpoint names (`strictDns`: an endpoint per address,
 * `logicalDns`: one endpoint), by the host of each request (`dynamicDns`), or by the dialled address.
 */
export type Discovery = "eds" | "strictDns" | "logicalDns" | "dynamicDns" | "originalDst";

/** An outbound cluster to build. */
export interface DestinationPlan {
  readonly name: string;
  readonly service: Service;
  readonly port: ServicePort;
  readonly rule: EffectiveDestinationRule | undefined;
  readonly subset: Subset | undefined;
  readonly policy: EffectivePolicy;
  /** TLS of a BackendTLSPolicy, which is in the policy. Absent: none. */
  readonly backendTls?: BackendTls;
  readonly discovery: Discovery;
}

/**
 * All clusters of a host in order: for each port except UDP, the default cluster, then the subsets. Empty when the host
 * is not visible, or is an alias: routes of an alias lead to clusters of its target.
 */
export function destinations(read: Reader, host: string): DestinationPlan[] {
  const service = read.service(host);
  if (service === undefined || service.externalName !== undefined) return [];
  const rule = read.destinationRule(host);
  const found: DestinationPlan[] = [];
  for (const port of service.ports) {
    if (port.protocol === "UDP") continue;
    const byResolution = discoveryOf(read, service, port);
    found.push(destination(read, service, port, rule, undefined, byResolution));
    const names = new Set<string>();
    for (const subset of rule?.spec.subsets ?? []) {
      // Names are unique within a rule. Merged rules may repeat a name, and the first (older) rule wins.
      if (names.has(subset.name)) continue;
      names.add(subset.name);
      found.push(destination(read, service, port, rule, subset, byResolution));
    }
  }
  return found;
}

/** The destination of one port and subset (empty: the default cluster). Undefined when the host has no such cluster. */
export function destinationOf(
  read: Reader,
  host: string,
  portNumber: number,
  subset: string,
): DestinationPlan | undefined {
  const service = read.service(host);
  if (service?.externalName !== undefined) return undefined;
  const port = service?.ports.find((p) => p.port === portNumber && p.protocol !== "UDP");
  if (service === undefined || port === undefined) return undefined;
  const rule = read.destinationRule(host);
  const found = subset === "" ? undefined : rule?.spec.subsets?.find((s) => s.name === subset);
  if (subset !== "" && found === undefined) return undefined;
  return destination(read, service, port, rule, found, discoveryOf(read, service, port));
}

/** The default destination of one port of a service. */
export function destinationOfPort(
  read: Reader,
  service: Service,
  port: ServicePort,
  rule: EffectiveDestinationRule | undefined,
): DestinationPlan {
  return destination(read, service, port, rule, undefined, discoveryOf(read, service, port));
}

function destination(
  read: Reader,
  service: Service,
  port: ServicePort,
  rule: EffectiveDestinationRule | undefined,
  subset: Subset | undefined,
  byResolution: Discovery,
): DestinationPlan {
  const top = rule?.spec.trafficPolicy;
  const written = subset === undefined ? portPolicy(top, port.port) : subsetPolicy(top, subset, port.port);
  const { policy, backendTls } = withBackendTls(written, rule?.backendTls, port.port);
  // The user's PASSTHROUGH balancer makes any service dial the address that the client dialled.
  const passthrough = policy.loadBalancer?.simple === "PASSTHROUGH";
  return {
    name: clusterName(read, { host: service.hostname, port: port.port, subset: subset?.name ?? "", service }),
    service,
    port,
    rule,
    subset,
    policy,
    ...(backendTls && { backendTls }),
    discovery: passthrough ? "originalDst" : byResolution,
  };
}

const fixed: Readonly<Record<Exclude<Resolution, "passthrough">, Discovery>> = {
  static: "eds",
  dns: "strictDns",
  dnsRoundRobin: "logicalDns",
  dynamicDns: "dynamicDns",
};

function discoveryOf(read: Reader, service: Service, port: ServicePort): Discovery {
  const resolution = resolutionOf(service, port);
  if (resolution !== "passthrough") return fixed[resolution];
  // A gateway's listeners do not know an original destination.
  if (!aspect(read, "originalDestination")) return "eds";
  return service.provider === "Orch" && read.settings.enableEdsForHeadless ? "eds" : "originalDst";
}

/** Keys of the configuration objects behind a destination, the service and its port first. */
export function causesOf(destination: DestinationPlan): readonly string[] {
  const { service, port, rule } = destination;
  const causes = portCauses(service, port);
  return rule === undefined ? causes : [...causes, ...rule.causes];
}
