/**
 * Clusters of HBONE.
 *
 * @module
 */
import { Cluster_DiscoveryType as DiscoveryType, Cluster_LbPolicy as LbPolicy } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { any } from "../../pb/codec.ts";
import { duration, struct, wrap } from "../../pb/wellknown.ts";
import type { DestinationPlan } from "../destination/plan.ts";
import { hboneListening, reachesByHbone, sendsHbone } from "../hbone/ability.ts";
import { internalUpstream } from "../hbone/internal_upstream.ts";
import {
  CONNECT_ORIGINATE,
  DIALLED_METADATA,
  HBONE_MARK,
  HBONE_METADATA,
  HBONE_PORT,
  MAIN_INTERNAL,
} from "../hbone/names.ts";
import type { Built } from "../message/built.ts";
import type { Reader } from "../reader/reader.ts";
import { meshClientSocket, PLAIN_OTHERWISE } from "../tls/mesh_client.ts";
import { trustedNames } from "../tls/mesh_server.ts";
import { hboneTlsParameters } from "../tls/parameters.ts";
import { clientIdentity } from "../tls/secret_source.ts";
import { connectionPool } from "./connection_pool.ts";
import { HTTP_OPTIONS } from "./http_options.ts";
import { workloadNames } from "./server_names.ts";
import { statName } from "./stat_name.ts";
import type { UpstreamTls } from "./tls.ts";

type Match = envoy.config.cluster.v3.Cluster.TransportSocketMatch;
type Cluster = envoy.config.cluster.v3.Cluster;

/**
 * The cluster from the listener that ends tunnels to the listener of the inner connections. Empty when the proxy
 * accepts no tunnels.
 */
export function hboneInboundClusters(read: Reader): Built<Cluster>[] {
  const listening = hboneListening(read);
  if (!listening.asked || !("identity" in listening)) return [];
  const address = { envoy_internal_address: { server_listener_name: MAIN_INTERNAL } };
  const message: Cluster = {
    name: MAIN_INTERNAL,
    alt_stat_name: statName(MAIN_INTERNAL),
    ...connectionPool(read.mesh(), undefined),
    type: DiscoveryType.STATIC,
    lb_policy: LbPolicy.ROUND_ROBIN,
    load_assignment: {
      cluster_name: MAIN_INTERNAL,
      endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
    },
    transport_socket: internalUpstream(),
  };
  return [{ message, causes: [] }];
}

/**
 * The cluster of the outer connections of HBONE. Its endpoint is the inner destination address. Empty when the proxy
 * makes no tunnels. The cluster accepts any workload of the mesh: the identities required of a service are in the
 * metadata of the service's cluster and are verified separately.
 */
export function connectOriginateClusters(read: Reader): Built<Cluster>[] {
  const identity = sendsHbone(read) ? clientIdentity(read) : undefined;
  if (identity === undefined) return [];
  const message: Cluster = {
    name: CONNECT_ORIGINATE,
    alt_stat_name: statName(CONNECT_ORIGINATE),
    ...connectionPool(read.mesh(), undefined),
    type: DiscoveryType.ORIGINAL_DST,
    lb_policy: LbPolicy.CLUSTER_PROVIDED,
    cleanup_interval: duration(CLEANUP),
    original_dst_lb_config: { upstream_port_override: wrap(HBONE_PORT) },
    typed_extension_protocol_options: {
      [HTTP_OPTIONS]: any(HTTP_OPTIONS, { explicit_http_config: { http2_protocol_options: { allow_connect: true } } }),
    },
    transport_socket: meshClientSocket(read, identity, {
      trusted: trustedNames(read),
      parameters: hboneTlsParameters(read),
      alpn: ["h2"],
    }),
  };
  return [{ message, causes: [] }];
}

/** An address without a connection is forgotten after this time, ms. */
const CLEANUP = 60_000;

/** Sockets of a cluster that reaches some endpoints by HBONE. */
export interface HboneSockets {
  readonly tls: UpstreamTls;
  /** Names accepted in a server's certificate. Empty: any certificate of the mesh is accepted. */
  readonly names: readonly string[];
}

/**
 * The sockets of a cluster with a socket for HBONE endpoints. Undefined when no endpoint is reached by HBONE. If a rule
 * sets TLS other than the mesh's own, the tunnel carries that TLS. Other endpoints keep their sockets.
 */
export function hboneSockets(read: Reader, d: DestinationPlan, without: UpstreamTls): HboneSockets | undefined {
  if (d.discovery !== "eds" || !reachesByHbone(read, d.service, d.port.name)) return undefined;
  const { socket, matches, ...others } = without;
  const ofMesh = d.policy.tls === undefined || d.policy.tls.mode === "MESH_MUTUAL";
  const mark = struct({ [HBONE_MARK.key]: HBONE_MARK.value });
  const hbone = internalUpstream(ofMesh ? undefined : socket, PASSED);
  const plain = matches ?? [socket === undefined ? PLAIN_OTHERWISE : otherwise(socket)];
  return {
    tls: { ...others, matches: [{ name: "hbone", match: mark, transport_socket: hbone }, ...plain] },
    names: without.names ?? workloadNames(read, d.service),
  };
}

function otherwise(transport_socket: envoy.config.core.v3.TransportSocket): Match {
  return { name: "otherwise", match: struct({}), transport_socket };
}

/** The internal listener gets the address of the endpoint and the names that the cluster expects. */
const PASSED = [
  { kind: { host: {} }, name: DIALLED_METADATA },
  { kind: { cluster: {} }, name: HBONE_METADATA.namespace },
];
