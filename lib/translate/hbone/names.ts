/**
 * HBONE: each connection between workloads is a CONNECT request, over mutual TLS to a dedicated port.
 *
 *     client ── CONNECT 10.0.0.1:8080, TLS ──> 10.0.0.1:15008 connect_terminate ──> main_internal ──> 10.0.0.1:8080
 *
 * Names of listeners, clusters and shared metadata are Istio's, so tools and dashboards for Istio work.
 *
 * @module
 */

/** The port on which workloads accept HBONE connections. The redirection rules exclude the port. */
export const HBONE_PORT = 15008;

/** The listener that ends TLS and CONNECT. */
export const CONNECT_TERMINATE = "connect_terminate";

/** The internal listener of the inner connections, and the cluster that leads to this listener. */
export const MAIN_INTERNAL = "main_internal";

/** The internal listener that makes connections by HBONE, and the cluster of the outer connections. */
export const CONNECT_ORIGINATE = "connect_originate";

/**
 * At a waypoint: the internal listeners of connections to addresses of workloads, and the clusters that lead to these
 * listeners. The workloads of the first take HBONE, those of the second take plain connections.
 */
export const DIRECT = { hbone: "direct", plain: "direct_plain" } as const;

/** The cluster that leads to {@linkcode CONNECT_ORIGINATE} for the address that the client dialled. */
export const ENCAP = "encap";

/**
 * The internal listener that makes connections by HBONE into another network, and the cluster that leads through the
 * network's gateway. A connection inside is HBONE to a workload of the other network.
 */
export const INNER_ORIGINATE = "inner_connect_originate";

/** The internal listener that makes connections by HBONE to the gateways of networks, and the cluster of gateways. */
export const OUTER_ORIGINATE = "outer_connect_originate";

/** The routes of a gateway between networks, and the beginning of the names of its clusters. */
export const FORWARD_INNER = "forward_inner_connect";

/** Mark of an endpoint that is reached by HBONE. */
export const HBONE_MARK = { key: "tunnel", value: "http" } as const;

/**
 * Metadata of an endpoint with the address for CONNECT. An internal listener reads the address as the dialled address.
 */
export const DIALLED_METADATA = "envoy.filters.listener.original_dst";

/** Key beside the address in {@linkcode DIALLED_METADATA}: the waypoint's pod that the connection goes to. */
export const DIALLED_WAYPOINT = "waypoint";

/** Keys in {@linkcode DIALLED_METADATA} of an endpoint in another network: the gateway `IP:PORT`, and `HOST:PORT` behind it. */
export const DIALLED_GATEWAY = "gateway", DIALLED_SERVICE = "service";

/** Filter state of a connection into another network: the service `HOST:PORT`. */
export const FAR_SERVICE = "mesh.hbone.service";

/** Filter state with the address that a cluster of original destinations dials. */
export const DIALLED_INSTEAD = "envoy.network.transport_socket.original_dst_address";

/** Metadata of a cluster with the accepted names of a server's certificate, comma separated. */
export const HBONE_METADATA = { namespace: "mesh.hbone", key: "names" } as const;

/** Filter state from which an internal listener takes the dialled address. */
export const DIALLED_ADDRESS = "envoy.filters.listener.original_dst.local_ip";
/** Filter state: the names that the server's certificate of a connection must have, comma separated. */
export const EXPECTED_NAMES = "envoy.network.upstream_subject_alt_names";

/** Filter state from which an internal listener takes the client's address. */
export const CLIENT_ADDRESS = "envoy.filters.listener.original_dst.remote_ip";

/** Filter state with the verified identity of a CONNECT's client. */
export const PEER_PRINCIPAL = "io.istio.peer_principal";
/** Filter state with the namespace of the verified client. */
export const PEER_NAMESPACE_STATE = "mesh.peer_namespace";
/** Filter state with the identity shown to the client. */
export const LOCAL_PRINCIPAL = "io.istio.local_principal";
