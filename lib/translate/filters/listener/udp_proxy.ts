/**
 * Carries datagrams to clusters. Datagrams between the same two addresses and ports are a session, and a session stays
 * at the destination of its first datagram.
 *
 * Envoy has no weighted clusters for datagrams. Its matchers divide sessions by the hash of the client's port: a client
 * takes another port for each session, so the numbers of sessions follow the weights.
 *
 *     weights 70, 20, 10     hash modulo 100:  30..99 first   10..29 second   0..9 third
 *
 * https://www.envoyproxy.io/docs/envoy/v1.40.0/configuration/listeners/udp_filters/udp_proxy
 *
 * @module
 */
import type { envoy, xds } from "../../../../proto/gen/types.ts";
import { any } from "../../../pb/codec.ts";
import { duration } from "../../../pb/wellknown.ts";
import type { WeightedCluster } from "../network/tcp_proxy.ts";

type OnMatch = xds.type.matcher.v3.Matcher.OnMatch;
type FieldMatcher = xds.type.matcher.v3.Matcher.MatcherList.FieldMatcher;

/** Name of the filter. */
export const UDP_PROXY = "envoy.filters.udp_listener.udp_proxy";

/** The plan of a UDP proxy. */
export interface UdpProxyPlan {
  readonly statPrefix: string;
  /** Never empty. */
  readonly clusters: readonly WeightedCluster[];
  /** ms without datagrams after which a session ends. Absent: Envoy's default, 1 min. */
  readonly idleTimeout?: number;
}

/** `envoy.filters.udp_listener.udp_proxy`. */
export function udpProxyFilter(plan: UdpProxyPlan): envoy.config.listener.v3.ListenerFilter {
  const config: envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig = {
    stat_prefix: plan.statPrefix,
    matcher: byWeight(plan.clusters),
    ...(plan.idleTimeout === undefined ? {} : { idle_timeout: duration(plan.idleTimeout) }),
  };
  return {
    name: UDP_PROXY,
    typed_config: any("envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig", config),
  };
}

/** Each cluster but the last takes its share from the top of the remaining hashes. The last cluster takes the rest. */
function byWeight(clusters: readonly WeightedCluster[]): xds.type.matcher.v3.Matcher {
  const modulo = clusters.reduce((sum, { weight }) => sum + weight, 0);
  let threshold = modulo;
  const matchers = clusters.slice(0, -1).map(({ name, weight }): FieldMatcher => {
    threshold -= weight;
    return { predicate: { single_predicate: portHash(threshold, modulo) }, on_match: toCluster(name) };
  });
  return {
    ...(matchers.length > 0 ? { matcher_list: { matchers } } : {}),
    on_no_match: toCluster(clusters.at(-1)?.name ?? ""),
  };
}

/** Matches sessions whose hash, modulo the sum of weights, is at least the threshold. */
function portHash(
  threshold: number,
  modulo: number,
): xds.type.matcher.v3.Matcher.MatcherList.Predicate.SinglePredicate {
  return {
    input: {
      name: "envoy.matching.inputs.source_port",
      typed_config: any("envoy.extensions.matching.common_inputs.network.v3.SourcePortInput"),
    },
    custom_match: {
      name: "envoy.matching.matchers.consistent_hashing",
      typed_config: any("envoy.extensions.matching.input_matchers.consistent_hashing.v3.ConsistentHashing", {
        threshold,
        modulo,
      }),
    },
  };
}

function toCluster(cluster: string): OnMatch {
  const typed_config = any("envoy.extensions.filters.udp.udp_proxy.v3.Route", { cluster });
  return { action: { name: "envoy.filters.udp_listener.udp_proxy.route", typed_config } };
}
