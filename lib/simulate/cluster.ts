/**
 * The cluster step of a simulation: the cluster, its TLS and its endpoints.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import { Cluster_DiscoveryType, HealthStatus } from "../../proto/gen/enums.ts";
import { fromStruct } from "../pb/wellknown.ts";
import { causeOf, causesOf, packedName, unpack } from "./decode.ts";
import type { ClusterShare } from "./action.ts";
import { lackedSecret } from "./secrets.ts";
import type { ClusterStep, ProxyResources, SimulatedEndpoint, SocketAddress } from "./types.ts";

type Cluster = envoy.config.cluster.v3.Cluster;
type ClientTlsContext = envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext;

type TransportSocket = envoy.config.core.v3.TransportSocket;
type ProxyProtocolUpstreamTransport =
  envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport;

type InternalUpstreamTransport = envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport;

const PROXY_HEADER = "envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport";

const INTERNAL = "envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport";

/** Metadata of an endpoint behind an internal listener: the listener uses this address as the dialled address. */
const DIALLED = "envoy.filters.listener.original_dst";

const TYPE_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(Cluster_DiscoveryType).map(([name, value]) => [value, name]),
);

/** The cluster of a destination, with its endpoints. */
export function clusterStep(
  resources: ProxyResources,
  destination: ClusterShare,
  original: SocketAddress,
): ClusterStep {
  const { name, weight } = destination;
  const cluster = resources.clusters.get(name);
  if (cluster === undefined) {
    return { step: "cluster", name, weight, type: "missing", transport: "plaintext", endpoints: [] };
  }
  return {
    step: "cluster",
    name,
    weight,
    type: cluster.cluster_type?.name ?? TYPE_NAMES.get(cluster.type ?? 0) ?? "unknown",
    transport: transportOf(cluster),
    ...clientTls(cluster),
    ...lacked(resources, cluster),
    endpoints: endpointsOf(resources, cluster, original),
    ...causeOf(cluster.metadata),
    ...causesOf(resources, "clusters", name),
  };
}

/**
 * Whether the cluster may have an endpoint for a request: a healthy endpoint is known, or the cluster resolves
 * endpoints per request.
 */
export function mayForward(step: ClusterStep): boolean {
  return step.endpoints.some((endpoint) => endpoint.healthy) || step.type.includes("dynamic_forward_proxy");
}

/** The transport inside a PROXY protocol header or an internal listener; any other transport stays unchanged. */
function innerSocket(socket: TransportSocket | undefined): TransportSocket | undefined {
  const outer = unpack<ProxyProtocolUpstreamTransport>(socket?.typed_config, PROXY_HEADER) ??
    unpack<InternalUpstreamTransport>(socket?.typed_config, INTERNAL);
  return outer === undefined ? socket : innerSocket(outer.transport_socket);
}

function transportOf(cluster: Cluster): ClusterStep["transport"] {
  if (cluster.transport_socket_matches?.length) return "by endpoint";
  const type = packedName(innerSocket(cluster.transport_socket)?.typed_config);
  return type === "" || type.endsWith(".RawBuffer") ? "plaintext" : "tls";
}

function endpointsOf(resources: ProxyResources, cluster: Cluster, original: SocketAddress): SimulatedEndpoint[] {
  if (cluster.type === Cluster_DiscoveryType.ORIGINAL_DST) {
    const port = cluster.original_dst_lb_config?.upstream_port_override?.value ?? original.port;
    return [{ ...PLAIN, address: original.ip, port }];
  }
  const eds = cluster.type === Cluster_DiscoveryType.EDS;
  const assignment = eds
    ? resources.assignments.get(cluster.eds_cluster_config?.service_name || cluster.name || "")
    : cluster.load_assignment;
  return (assignment?.endpoints ?? []).flatMap((group) =>
    (group.lb_endpoints ?? []).map((one) => ({
      ...addressOf(one),
      priority: group.priority ?? 0,
      locality: localityOf(group.locality),
      localityWeight: group.load_balancing_weight?.value ?? 0,
      weight: one.load_balancing_weight?.value ?? 1,
      healthy: isHealthy(one.health_status ?? 0),
      ...endpointTransport(cluster, one),
    }))
  ).sort((a, b) => a.priority - b.priority);
}

const TLS_CONTEXT = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";

function isTls(socket: envoy.config.core.v3.TransportSocket | undefined): boolean {
  return packedName(socket?.typed_config) === TLS_CONTEXT;
}

/** The first socket whose fields all match the endpoint's metadata. A socket without fields matches any endpoint. */
function endpointTransport(
  { transport_socket_matches: matches = [] }: Cluster,
  { metadata }: envoy.config.endpoint.v3.LbEndpoint,
): Pick<SimulatedEndpoint, "transport"> {
  if (matches.length === 0) return {};
  const marks = fromStruct(metadata?.filter_metadata?.["envoy.transport_socket_match"]);
  const chosen = matches.find(({ match }) =>
    Object.entries(fromStruct(match)).every(([key, value]) => marks[key] === value)
  );
  return { transport: isTls(innerSocket(chosen?.transport_socket)) ? "tls" : "plaintext" };
}

/** The beginning of the ALPN protocols that sidecars use for mutual TLS of the mesh. */
const MESH_PROTOCOL = "istio";

/** The first TLS context of the cluster's sockets; undefined: no connection of the cluster uses TLS. */
function tlsContext(cluster: Cluster): ClientTlsContext | undefined {
  const sockets = [
    cluster.transport_socket,
    ...(cluster.transport_socket_matches ?? []).map((m) => m.transport_socket),
  ].map(innerSocket);
  return unpack<ClientTlsContext>(sockets.find(isTls)?.typed_config, TLS_CONTEXT);
}

function lacked(resources: ProxyResources, cluster: Cluster): Pick<ClusterStep, "lacks"> {
  const lacks = lackedSecret(resources, tlsContext(cluster)?.common_tls_context);
  return lacks === undefined ? {} : { lacks };
}

/** The TLS of the cluster's connections, or of the connections to some endpoints. */
function clientTls(cluster: Cluster): Pick<ClusterStep, "tls" | "alpn"> {
  const context = tlsContext(cluster);
  if (context === undefined) return {};
  const common = context.common_tls_context ?? {};
  const bytes = common.alpn_protocols ?? [];
  const shows = (common.tls_certificates?.length ?? 0) + (common.tls_certificate_sds_secret_configs?.length ?? 0) > 0;
  const isMesh = shows && bytes.some((one) => one.startsWith(MESH_PROTOCOL));
  return {
    tls: { certificate: isMesh ? "mesh" : shows ? "other" : "none", serverNames: serverNames(common) },
    ...(bytes.length > 0 && { alpn: { bytes, http: httpProtocols(cluster) ?? bytes } }),
  };
}

/**
 * Requests may offer other protocols than the TLS context lists: then a filter takes the protocols from the cluster's
 * metadata.
 */
function httpProtocols(cluster: Cluster): readonly string[] | undefined {
  const { http_alpn: written } = fromStruct(cluster.metadata?.filter_metadata?.["istio"]);
  return typeof written === "string" ? written.split(",") : undefined;
}

type CommonTlsContext = envoy.extensions.transport_sockets.tls.v3.CommonTlsContext;

function serverNames({ validation_context, combined_validation_context }: CommonTlsContext): readonly string[] {
  const context = validation_context ?? combined_validation_context?.default_validation_context;
  const names = (context?.match_typed_subject_alt_names ?? []).map(({ matcher }) => matcher?.exact);
  return names.includes(undefined) ? [] : names as string[];
}

const PLAIN = { priority: 0, locality: "", localityWeight: 0, weight: 1, healthy: true } as const;

function addressOf(
  { endpoint, metadata }: envoy.config.endpoint.v3.LbEndpoint,
): Pick<SimulatedEndpoint, "address" | "port" | "hbone"> {
  const address = endpoint?.address;
  if (address?.pipe) return { address: address.pipe.path ?? "", port: 0 };
  const internal = address?.envoy_internal_address;
  if (internal) {
    // The gateway of another network stands for the workloads behind it.
    const { local, gateway } = fromStruct(metadata?.filter_metadata?.[DIALLED]);
    const dialled = /^\[?(.+?)\]?:(\d+)$/.exec(`${local ?? gateway ?? ""}`);
    if (dialled) return { address: dialled[1]!, port: Number(dialled[2]), hbone: true };
    return { address: `internal:${internal.server_listener_name ?? ""}`, port: 0 };
  }
  return { address: address?.socket_address?.address ?? "", port: address?.socket_address?.port_value ?? 0 };
}

function localityOf(locality: envoy.config.core.v3.Locality | undefined): string {
  return [locality?.region, locality?.zone, locality?.sub_zone].filter((part) => part).join("/");
}

function isHealthy(status: number): boolean {
  return status === HealthStatus.UNKNOWN || status === HealthStatus.HEALTHY || status === HealthStatus.DEGRADED;
}
