/**
 * How tunnels choose among the workloads of a service.
 *
 * @module
 */
import type { istio } from "../../proto/gen/types.ts";
import type { Service } from "../registry/types.ts";

type LoadBalancing = istio.workload.LoadBalancing;

/** Numbers of `LoadBalancing.Scope`. */
const SCOPE = { region: 1, zone: 2, subzone: 3, node: 4, network: 6 } as const;
/** Numbers of `LoadBalancing.Mode`. */
const MODE = { strict: 1, failover: 2 } as const;
/** Number of `LoadBalancing.HealthPolicy.ALLOW_ALL`. */
const ALLOW_ALL = 1;

/** The preferences of a service. */
export interface Preferences extends Pick<Service, "trafficDistribution" | "nodeLocal" | "publishNotReadyAddresses"> {}

/** The rules for a service; undefined: any healthy workload. Each call makes a new message. */
export function loadBalancing(
  { trafficDistribution, nodeLocal, publishNotReadyAddresses }: Preferences,
): LoadBalancing | undefined {
  const found = nodeLocal ? nodeLocalOnly() : preferred(trafficDistribution);
  return publishNotReadyAddresses ? { ...found, health_policy: ALLOW_ALL } : found;
}

/** Only workloads on the client's node. */
function nodeLocalOnly(): LoadBalancing {
  return { routing_preference: [SCOPE.node], mode: MODE.strict };
}

/** Near workloads first. */
function preferred(distribution: Service["trafficDistribution"]): LoadBalancing | undefined {
  if (distribution === undefined || distribution === "any") return undefined;
  const zone = [SCOPE.network, SCOPE.region, SCOPE.zone];
  const routing_preference = distribution === "preferSameZone" ? zone : [...zone, SCOPE.subzone, SCOPE.node];
  return { routing_preference, mode: MODE.failover };
}
