/**
 * Clusters of every proxy, independent of its services: a cluster without endpoints, and clusters for dialled
 * addresses.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { Cluster_DiscoveryType as DiscoveryType, Cluster_LbPolicy as LbPolicy } from "../../../proto/gen/enums.ts";
import { any } from "../../pb/codec.ts";
import { duration } from "../../pb/wellknown.ts";
import type { Built } from "../message/built.ts";
import { aspect } from "../reader/aspect.ts";
import type { Reader } from "../reader/reader.ts";
import { loopbackBind } from "./bind.ts";
import { connectionPool } from "./connection_pool.ts";
import { HTTP_OPTIONS } from "./http_options.ts";
import { statName } from "./stat_name.ts";

type Cluster = envoy.config.cluster.v3.Cluster;

/** The cluster without endpoints, to which all traffic fails. */
export const BLACK_HOLE = "BlackHoleCluster";
/** The cluster for outbound traffic to the address that the client dialled. */
export const PASSTHROUGH = "PassthroughCluster";
/** The cluster for inbound traffic to the port that the client dialled. */
export const INBOUND_PASSTHROUGH = "InboundPassthroughCluster";

/**
 * Idle connections of passthrough clusters close after this time, ms. Connections are pooled per address and would pile
 * up.
 */
const IDLE_TIMEOUT = 300_000;

/** The static clusters of a proxy: all three if the proxy knows dialled addresses, else only the first. */
export function staticClusters(read: Reader): Built<Cluster>[] {
  const messages = [blackHole(read)];
  if (aspect(read, "originalDestination")) messages.push(passthroughCluster(read), inboundPassthrough(read));
  return messages.map((message) => ({ message, causes: [] }));
}

function blackHole(read: Reader): Cluster {
  return {
    name: BLACK_HOLE,
    alt_stat_name: statName(BLACK_HOLE),
    type: DiscoveryType.STATIC,
    connect_timeout: duration(read.mesh().connectTimeout),
    lb_policy: LbPolicy.ROUND_ROBIN,
  };
}

/** The cluster for the address that the client dialled. */
export function passthroughCluster(read: Reader, name = PASSTHROUGH): Cluster {
  return {
    name,
    alt_stat_name: statName(name),
    ...connectionPool(read.mesh(), undefined),
    type: DiscoveryType.ORIGINAL_DST,
    lb_policy: LbPolicy.CLUSTER_PROVIDED,
    typed_extension_protocol_options: {
      [HTTP_OPTIONS]: any(HTTP_OPTIONS, {
        common_http_protocol_options: { idle_timeout: duration(IDLE_TIMEOUT) },
        use_downstream_protocol_config: { http_protocol_options: {}, http2_protocol_options: {} },
      }),
    },
  };
}

/** The inbound passthrough cluster for both IP versions: Envoy picks a source address of the destination's version. */
function inboundPassthrough(read: Reader): Cluster {
  return { ...passthroughCluster(read, INBOUND_PASSTHROUGH), upstream_bind_config: loopbackBind(read, true) };
}
