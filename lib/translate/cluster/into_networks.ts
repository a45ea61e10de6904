/**
 * Clusters of connections by HBONE into other networks.
 *
 * @module
 */
import { Cluster_DiscoveryType as DiscoveryType, Cluster_LbPolicy as LbPolicy } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { any } from "../../pb/codec.ts";
import { duration, wrap } from "../../pb/wellknown.ts";
import { sendsHbone } from "../hbone/ability.ts";
import { internalUpstream } from "../hbone/internal_upstream.ts";
import { INNER_ORIGINATE, OUTER_ORIGINATE } from "../hbone/names.ts";
import type { Built } from "../message/built.ts";
import type { Reader } from "../reader/reader.ts";
import { clientIdentity } from "../tls/secret_source.ts";
import { connectionPool } from "./connection_pool.ts";
import { ADDRESS_CLEANUP, originateSocket } from "./hbone.ts";
import { HTTP_OPTIONS } from "./http_options.ts";
import { statName } from "./stat_name.ts";

type Cluster = envoy.config.cluster.v3.Cluster;

/**
 * The clusters. Empty for a proxy that makes no connections by HBONE into other networks. Both accept any workload of the
 * mesh: the identities required of a service are in the metadata of the service's cluster and are verified in the inner
 * connection. The gateway is trusted only with the name of the service.
 */
export function intoNetworksClusters(read: Reader): Built<Cluster>[] {
  const identity = read.settings.multiNetwork && sendsHbone(read) ? clientIdentity(read) : undefined;
  if (identity === undefined) return [];
  const common = (name: string): Cluster => ({
    ...{ name, alt_stat_name: statName(name) },
    ...connectionPool(read.mesh(), undefined),
  });
  const socket = originateSocket(read, identity);
  const address = { envoy_internal_address: { server_listener_name: OUTER_ORIGINATE } };
  const inner: Cluster = {
    ...common(INNER_ORIGINATE),
    type: DiscoveryType.STATIC,
    lb_policy: LbPolicy.ROUND_ROBIN,
    load_assignment: { cluster_name: INNER_ORIGINATE, endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }] },
    // The gateway chooses a workload for each inner connection, so each carries one connection of a client.
    typed_extension_protocol_options: options({ max_requests_per_connection: wrap(1) }),
    transport_socket: internalUpstream(socket),
  };
  const outer: Cluster = {
    ...common(OUTER_ORIGINATE),
    type: DiscoveryType.ORIGINAL_DST,
    lb_policy: LbPolicy.CLUSTER_PROVIDED,
    cleanup_interval: duration(ADDRESS_CLEANUP),
    typed_extension_protocol_options: options({}),
    transport_socket: socket,
  };
  return [inner, outer].map((message) => ({ message, causes: [] }));
}

function options(common_http_protocol_options: envoy.config.core.v3.HttpProtocolOptions) {
  return {
    [HTTP_OPTIONS]: any(HTTP_OPTIONS, {
      common_http_protocol_options,
      explicit_http_config: { http2_protocol_options: { allow_connect: true } },
    }),
  };
}
