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
  DIALLED_WAYPOINT,
  DIRECT,
  ENCAP,
  HBONE_MARK,
  HBONE_METADATA,
  HBONE_PORT,
  MAIN_INTERNAL,
} from "../hbone/names.ts";
import type { Built } from "../message/built.ts";
import { aspect } from "../reader/aspect.ts";
import type { Reader } from "../reader/reader.ts";
import { meshClientSocket, PLAIN_OTHERWISE } from "../tls/mesh_client.ts";
import { trustedNames } from "../tls/mesh_server.ts";
import { hboneTlsParameters } from "../tls/parameters.ts";
import { type ClientIdentity, clientIdentity } from "../tls/secret_source.ts";
import { connectionPool } from "./connection_pool.ts";
import { HTTP_OPTIONS } from "./http_options.ts";
import { servingNames, waypointNames } from "./server_names.ts";
import { statName } from "./stat_name.ts";
import { passthroughCluster } from "./static.ts";
import type { UpstreamTls } from "./tls.ts";

type Match = envoy.config.cluster.v3.Cluster.TransportSocketMatch;
type Cluster = envoy.config.cluster.v3.Cluster;

/**
 * The cluster from the listener that ends tunnels to the listener of the inner connections. Empty when the proxy
 * accepts no tunnels.
 */
export function hboneInboundClusters(read: Reader): Built<Cluster>[] {
  const listening = hboneListening(read);
  return listening.asked && "identity" in listening ? [mainInternalCluster(read)] : [];
}

/** The cluster that leads to the listener of the inner connections. */
export function mainInternalCluster(read: Reader): Built<Cluster> {
  return { message: internalCluster(read, MAIN_INTERNAL), causes: [] };
}

/** The clusters of a waypoint for connections to addresses of workloads. */
export function directClusters(read: Reader): Built<Cluster>[] {
  const encap = sendsHbone(read)
    ? [internalCluster(read, DIRECT.hbone), {
      ...internalCluster(read, ENCAP, CONNECT_ORIGINATE),
      // Workloads get the HTTP version that the client speaks.
      typed_extension_protocol_options: {
        [HTTP_OPTIONS]: any(HTTP_OPTIONS, {
          use_downstream_protocol_config: { http_protocol_options: {}, http2_protocol_options: {} },
        }),
      },
    }]
    : [];
  const all = [...encap, internalCluster(read, DIRECT.plain), passthroughCluster(read)];
  return all.map((message) => ({ message, causes: [] }));
}

/** A cluster that leads to an internal listener. */
function internalCluster(read: Reader, name: string, server_listener_name = name): Cluster {
  return {
    name,
    alt_stat_name: statName(name),
    ...connectionPool(read.mesh(), undefined),
    type: DiscoveryType.STATIC,
    lb_policy: LbPolicy.ROUND_ROBIN,
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: { envoy_internal_address: { server_listener_name } } } }] }],
    },
    transport_socket: internalUpstream(),
  };
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
    cleanup_interval: duration(ADDRESS_CLEANUP),
    original_dst_lb_config: {
      upstream_port_override: wrap(HBONE_PORT),
      ...(read.settings.ingressWaypoints && aspect(read, "gateways") && { metadata_key: WAYPOINT_KEY }),
    },
    typed_extension_protocol_options: {
      [HTTP_OPTIONS]: any(HTTP_OPTIONS, { explicit_http_config: { http2_protocol_options: { allow_connect: true } } }),
    },
    transport_socket: originateSocket(read, identity),
  };
  return [{ message, causes: [] }];
}

/** The socket of an outer connection to any workload of the mesh. */
export function originateSocket(read: Reader, identity: ClientIdentity): envoy.config.core.v3.TransportSocket {
  const trusted = trustedNames(read);
  return meshClientSocket(read, identity, { trusted, parameters: hboneTlsParameters(read), alpn: ["h2"] });
}

/** Where a gateway finds the pod of the waypoint that a connection goes to, instead of the dialled address. */
const WAYPOINT_KEY = { key: DIALLED_METADATA, path: [{ key: DIALLED_WAYPOINT }] };

/** An address without a connection is forgotten after this time, ms. */
export const ADDRESS_CLEANUP = 60_000;

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
  const written = d.policy.tls?.subjectAltNames === undefined ? undefined : without.names;
  const plain = matches ?? [socket === undefined ? PLAIN_OTHERWISE : otherwise(socket)];
  return {
    tls: { ...others, matches: [{ name: "hbone", match: mark, transport_socket: hbone }, ...plain] },
    names: written ?? servingNames(read, d.service),
  };
}

/**
 * The sockets of a cluster whose endpoints are the pods of a waypoint. The waypoint applies the rule's TLS, so the tunnel
 * carries none.
 *
 * @param host Host of the waypoint's service.
 */
export function waypointSockets(read: Reader, host: string): HboneSockets {
  return { tls: { socket: internalUpstream(undefined, PASSED) }, names: waypointNames(read, host) };
}

function otherwise(transport_socket: envoy.config.core.v3.TransportSocket): Match {
  return { name: "otherwise", match: struct({}), transport_socket };
}

/** The internal listener gets the address of the endpoint and the names that the cluster expects. */
const PASSED = [
  { kind: { host: {} }, name: DIALLED_METADATA },
  { kind: { cluster: {} }, name: HBONE_METADATA.namespace },
];
