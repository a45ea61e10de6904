/**
 * How a cluster picks endpoints.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { Cluster_LbPolicy as LbPolicy, HealthStatus } from "../../../proto/gen/enums.ts";
import type { ConsistentHashLb, LoadBalancerSettings } from "../../config/kinds/destination_rule/schema.ts";
import { duration, wrap } from "../../pb/wellknown.ts";
import { any } from "../../pb/codec.ts";
import { sendsDraining, sendsUnhealthy } from "../destination/health.ts";
import { type LocalityPlan, weighsLocalities } from "../destination/locality_setting.ts";
import type { DestinationPlan } from "../destination/plan.ts";
import { PICKED_HEADER, PICKED_NAMESPACE, SERVED_KEY } from "../filters/http/ext_proc/filter.ts";
import type { Reader } from "../reader/reader.ts";

type Cluster = envoy.config.cluster.v3.Cluster;
type LoadBalancingPolicy = envoy.config.cluster.v3.LoadBalancingPolicy;

/** The balancer fields of a cluster. The default is LEAST_REQUEST, as in Istio. */
export function loadBalancer(lb: LoadBalancerSettings | undefined): Cluster {
  if (lb?.consistentHash !== undefined) return consistentHash(lb.consistentHash);
  const slowStart = lb && slowStartConfig(lb);
  switch (lb?.simple) {
    case "RANDOM":
      return { lb_policy: LbPolicy.RANDOM };
    case "ROUND_ROBIN":
      return {
        lb_policy: LbPolicy.ROUND_ROBIN,
        ...(slowStart && { round_robin_lb_config: { slow_start_config: slowStart } }),
      };
    default:
      return {
        lb_policy: LbPolicy.LEAST_REQUEST,
        ...(slowStart && { least_request_lb_config: { slow_start_config: slowStart } }),
      };
  }
}

/** Envoy refuses a cluster with a larger ring. */
const MAX_RING_SIZE = 8_388_608;

function consistentHash(hash: ConsistentHashLb): Cluster {
  if (hash.maglev !== undefined) {
    const size = hash.maglev.tableSize;
    return {
      lb_policy: LbPolicy.MAGLEV,
      ...(size !== undefined && { maglev_lb_config: { table_size: wrap(size) } }),
    };
  }
  const size = hash.ringHash === undefined ? hash.minimumRingSize : hash.ringHash.minimumRingSize;
  return {
    lb_policy: LbPolicy.RING_HASH,
    ...(size !== undefined && { ring_hash_lb_config: { minimum_ring_size: wrap(Math.min(size, MAX_RING_SIZE)) } }),
  };
}

/** Defaults of the warm-up: 10 percent at the start, a linear ramp. */
function slowStartConfig(lb: LoadBalancerSettings): envoy.config.cluster.v3.Cluster.SlowStartConfig | undefined {
  if (lb.warmup === undefined) {
    return lb.warmupDurationSecs === undefined ? undefined : { slow_start_window: duration(lb.warmupDurationSecs) };
  }
  return {
    slow_start_window: duration(lb.warmup.duration),
    aggression: { default_value: lb.warmup.aggression ?? 1, runtime_key: "mesh.upstream.slow_start_aggression" },
    min_weight_percent: { value: lb.warmup.minimumPercent ?? 10 },
  };
}

/**
 * Load balancer fields that do not depend on the policy: panic threshold, weighted localities, usable health states.
 */
export function commonLbConfig(
  read: Reader,
  destination: DestinationPlan,
  locality: LocalityPlan,
): envoy.config.cluster.v3.Cluster.CommonLbConfig | undefined {
  const { service, policy } = destination;
  const threshold = panicThreshold(sendsUnhealthy(read.settings, service), policy.outlierDetection?.minHealthPercent);
  const config = {
    ...((threshold !== undefined || policy.outlierDetection !== undefined) && {
      healthy_panic_threshold: { value: threshold ?? 0 },
    }),
    ...(weighsLocalities(read, locality) && { locality_weighted_lb_config: {} }),
    ...(sendsDraining(read.settings, service) && { override_host_status: { statuses: stickyStatuses } }),
  };
  return Object.keys(config).length === 0 ? undefined : config;
}

/**
 * The panic threshold: below this share of healthy endpoints, Envoy would use all endpoints again. The threshold is 0
 * by default under outlier detection: few services have so many endpoints that a failure of half is implausible. The
 * threshold is also 0 wherever endpoints known to be unhealthy are sent.
 */
function panicThreshold(unhealthySent: boolean, minHealthPercent: number | undefined): number | undefined {
  return unhealthySent ? 0 : minHealthPercent;
}

/** A sticky session may end at a draining endpoint. */
const stickyStatuses = [HealthStatus.HEALTHY, HealthStatus.DRAINING, HealthStatus.UNKNOWN, HealthStatus.DEGRADED];

const POLICIES = "envoy.load_balancing_policies";
const EXTENSIONS = "envoy.extensions.load_balancing_policies";

/**
 * The policy of an InferencePool's cluster: endpoints as the endpoint picker says, and otherwise by a usual policy. Metadata comes before the header: a request's metadata is the picker's alone. Several picked
 * endpoints are tried in turn. The policy tells the picker which endpoint has answered.
 */
export function pickedBalancing(): LoadBalancingPolicy {
  const key = (name: string) => ({ key: PICKED_NAMESPACE, path: [{ key: name }] });
  return policy(`${POLICIES}.override_host`, `${EXTENSIONS}.override_host.v3.OverrideHost`, {
    override_host_sources: [{ metadata: key(PICKED_HEADER) }, { header: PICKED_HEADER }],
    selected_host_key: key(SERVED_KEY),
    fallback_policy: policy(`${POLICIES}.least_request`, `${EXTENSIONS}.least_request.v3.LeastRequest`, {}),
  });
}

function policy(name: string, type: string, config: object): LoadBalancingPolicy {
  return { policies: [{ typed_extension_config: { name, typed_config: any(type, config) } }] };
}
