/**
 * HBONE: a connection between workloads as one CONNECT request, over mutual TLS at a port of its own.
 *
 *     client ── CONNECT 10.0.0.1:8080, TLS ──> 10.0.0.1:15008 connect_terminate ──> main_internal ──> 10.0.0.1:8080
 *
 * Names of listeners, of clusters and of the metadata between them are Istio's, so that tools and tables made for it
 * work.
 *
 * @module
 */

/** Where workloads take HBONE connections; the rules of redirection leave it alone. */
export const HBONE_PORT = 15008;

/** The listener that ends TLS and CONNECT. */
export const CONNECT_TERMINATE = "connect_terminate";

/** The internal listener of the connections inside, and the cluster that leads there. */
export const MAIN_INTERNAL = "main_internal";

/** The internal listener of connections to be made by HBONE, and the cluster of the connections that carry them. */
export const CONNECT_ORIGINATE = "connect_originate";

/** Mark of an endpoint that is reached by HBONE. */
export const HBONE_MARK = { key: "tunnel", value: "http" } as const;

/** Metadata of an endpoint with the address that its CONNECT names; an internal listener reads it as dialled. */
export const DIALLED_METADATA = "envoy.filters.listener.original_dst";

/** Metadata of a cluster with the names of which a server's certificate must carry one, comma separated. */
export const HBONE_METADATA = { namespace: "mesh.hbone", key: "names" } as const;

/** Filter state that an internal listener takes the place of a connection's addresses from. */
export const DIALLED_ADDRESS = "envoy.filters.listener.original_dst.local_ip";
/** The same of the client's address. */
export const CLIENT_ADDRESS = "envoy.filters.listener.original_dst.remote_ip";

/** Filter state with the identity that the client of a CONNECT has shown. */
export const PEER_PRINCIPAL = "io.istio.peer_principal";
/** The namespace in it. */
export const PEER_NAMESPACE_STATE = "mesh.peer_namespace";
/** Like it, the identity that was shown to the client. */
export const LOCAL_PRINCIPAL = "io.istio.local_principal";
