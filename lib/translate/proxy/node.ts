/**
 * Reads a node, the proxy's description of itself, into the properties that translation may read.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { NAMED_BY_VARIABLE } from "../../config/mesh/peer_metadata.ts";
import type { MeshConfig, ProxyHeaders } from "../../config/mesh/types.ts";
import { isSameCluster } from "../../config/spelling/cluster_name.ts";
import { GATEWAY_NAME_LABEL } from "../../config/spelling/spelling.ts";
import { isDnsLabel } from "../../config/validation/names.ts";
import { fromStruct } from "../../pb/wellknown.ts";
import { canonicalIp, isIp } from "../../registry/address.ts";
import {
  type Labels,
  localityOf as localityOfLabels,
  NETWORK_LABEL,
  REGION_LABEL,
  SUBZONE_LABEL,
  ZONE_LABEL,
} from "../../registry/labels.ts";
import { profileOf } from "../reader/proxy_profile.ts";
import type { InterceptionMode, OwnTracing, ProxyProperties } from "../reader/proxy_properties.ts";
import { type NodeId, NodeRefused, parseNodeId } from "./identity.ts";
import { Metadata } from "./metadata.ts";

/** A proxy that may be served. */
export interface Proxy {
  readonly id: NodeId;
  /** The node ID as received. */
  readonly nodeId: string;
  /** The proxy's IP addresses, the main address first. */
  readonly addresses: readonly string[];
  readonly namespace: string;
  readonly serviceAccount: string;
  /** The owner of the pods of the workload (`WORKLOAD_NAME`), else the name in the node ID. */
  readonly workload: string;
  /** The reported version (`MESH_VERSION`). Empty: unknown. */
  readonly version: string;
  /**
   * The agent answers DNS queries for names of the mesh (`DNS_CAPTURE` or `ENABLE_DNS_SERVER`), so the agent will
   * request the DNS table.
   */
  readonly asksNames: boolean;
  readonly properties: ProxyProperties;
  /** Why a proxy that is told to ask for its resources gets everything. Undefined: it asks, or is not told to. */
  readonly whyNotOnDemand?: string;
  /** The node as received. */
  readonly node: envoy.config.core.v3.Node;
  /** The same proxy without facts from registries. Absent: registries add no facts. See `./completed.ts`. */
  readonly reported?: Proxy;
}

/** The settings for reading a node. */
export interface NodeOptions {
  readonly mesh: MeshConfig;
  /** Whether the proxy uses delta xDS and may receive virtual hosts one by one. */
  readonly vhds: boolean;
  /** Whether waypoints are served (`PILOT_ENABLE_AMBIENT_WAYPOINTS`). Default false. */
  readonly waypoints?: boolean;
  /** Cluster of proxies that report no cluster. */
  readonly clusterId: string;
  /** Other names of clusters, by alias. */
  readonly clusterAliases: Readonly<Record<string, string>>;
  /** Interns header settings: equal settings become one object. */
  readonly internHeaders: (headers: ProxyHeaders | undefined) => ProxyHeaders | undefined;
  /** Interns tracing settings. */
  readonly internTracing: (tracing: OwnTracing | undefined) => OwnTracing | undefined;
}

/**
 * Reads a node.
 *
 * @throws {NodeRefused} With every problem found, each with the key, the value and the expectation.
 */
export function readNode(node: envoy.config.core.v3.Node, options: NodeOptions): Proxy {
  const nodeId = node.id ?? "";
  const id = parseNodeId(nodeId);
  const isWaypoint = profileOf(id.type).waypoint;
  if (isWaypoint && !options.waypoints) {
    throw new NodeRefused(
      `node ${nodeId}: waypoints are not served, expected PILOT_ENABLE_AMBIENT_WAYPOINTS=true at the server ` +
        "(the default with PILOT_ENABLE_AMBIENT=true)",
    );
  }
  const metadata = new Metadata(fromStruct(node.metadata));
  const namespace = namespaceOf(id, metadata);
  const labels = { ...metadata.labels("STATIC_LABELS"), ...metadata.labels("LABELS") };
  const addresses = addressesOf(id, metadata);
  const properties = readProperties({ id, metadata, namespace, labels, addresses, node, options });
  if (isWaypoint && !labels[GATEWAY_NAME_LABEL]) {
    metadata.problems.push(`metadata LABELS has no ${GATEWAY_NAME_LABEL}, expected the name of the waypoint's Gateway`);
  }
  if (metadata.problems.length > 0) throw new NodeRefused(`node ${nodeId}: ${metadata.problems.join("; ")}`);
  return {
    id,
    nodeId,
    addresses,
    namespace,
    serviceAccount: metadata.text("SERVICE_ACCOUNT"),
    workload: metadata.text("WORKLOAD_NAME") || id.name,
    version: versionOf(metadata),
    asksNames: metadata.flag("DNS_CAPTURE") || metadata.flag("ENABLE_DNS_SERVER"),
    properties,
    ...metadata.flag("ON_DEMAND") && !properties.onDemand && { whyNotOnDemand: whyNotOnDemand(properties) },
    node,
  };
}

function whyNotOnDemand({ type }: ProxyProperties): string {
  const { outbound, noun } = profileOf(type);
  return outbound
    ? "on-demand discovery needs the delta protocol, and PILOT_ENABLE_VHDS=true at the server"
    : `on-demand discovery is for sidecars, and this proxy is a ${noun}`;
}

/** The namespace determines the proxy's view, so its name must be valid for a namespace. */
function namespaceOf(id: NodeId, metadata: Metadata): string {
  const named = metadata.text("NAMESPACE");
  if (named === "" || isDnsLabel(named)) return named || id.namespace;
  metadata.problems.push(`metadata NAMESPACE=${JSON.stringify(named)}, expected the name of a namespace`);
  return id.namespace;
}

/** Limit of a node's locality, in UTF-16 units. */
const MAX_LOCALITY = 1024;

/** Limit of a node's cluster, in UTF-16 units. */
const MAX_CLUSTER = 1024;

interface Parts {
  readonly id: NodeId;
  readonly metadata: Metadata;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly addresses: readonly string[];
  readonly node: envoy.config.core.v3.Node;
  readonly options: NodeOptions;
}

function readProperties({ id, metadata, namespace, labels, addresses, node, options }: Parts): ProxyProperties {
  const own = metadata.settings("PROXY_CONFIG", "gatewayTopology", "proxyHeaders", "tracing", "zipkinAddress");
  const { gatewayTopology, proxyHeaders } = own;
  const type = metadata.text("GENERATOR") === "grpc" ? "proxyless" : id.type;
  const mode = metadata.text("INTERCEPTION_MODE").toUpperCase();
  return {
    type,
    namespace,
    dnsDomain: id.dnsDomain,
    clusterId: clusterOf(metadata, options),
    network: metadata.text("NETWORK") || (labels[NETWORK_LABEL] ?? ""),
    requestedNetworks: metadata.list("REQUESTED_NETWORK_VIEW").sort().join(","),
    locality: localityOf(node, labels, metadata),
    nodeName: metadata.text("NODE_NAME"),
    ipv4: addresses.some((a) => !a.includes(":")),
    ipv6: addresses.some((a) => a.includes(":")),
    interceptionMode: isMode(mode) ? mode : options.mesh.defaultConfig.interceptionMode,
    httpProxyPort: metadata.count("HTTP_PROXY_PORT", 65535) || options.mesh.proxyHttpPort,
    http10: metadata.flag("HTTP10"),
    idleTimeout: metadata.duration("IDLE_TIMEOUT"),
    dnsCapture: metadata.flag("DNS_CAPTURE"),
    dnsAutoAllocate: metadata.flag("DNS_AUTO_ALLOCATE"),
    vhds: options.vhds,
    onDemand: options.vhds && profileOf(type).outbound && metadata.flag("ON_DEMAND"),
    extensions: listedExtensions(node),
    inboundExactBalance: metadata.flag("INBOUND_LISTENER_EXACT_BALANCE"),
    outboundExactBalance: metadata.flag("OUTBOUND_LISTENER_EXACT_BALANCE"),
    tlsClientCertChain: metadata.text("TLS_CLIENT_CERT_CHAIN"),
    tlsClientKey: metadata.text("TLS_CLIENT_KEY"),
    tlsClientRootCert: metadata.text("TLS_CLIENT_ROOT_CERT"),
    tlsServerCertChain: metadata.text("TLS_SERVER_CERT_CHAIN"),
    tlsServerKey: metadata.text("TLS_SERVER_KEY"),
    tlsServerRootCert: metadata.text("TLS_SERVER_ROOT_CERT"),
    agent: metadata.has("PROXY_CONFIG"),
    fetchesModules: metadata.has("PROXY_CONFIG") && metadata.flag("WASM_REMOTE_LOAD_CONVERSION", true),
    namedByVariable: metadata.flag(NAMED_BY_VARIABLE),
    fileSocket: metadata.flag("file-credential"),
    credentialSocket: metadata.flag("credential"),
    isUnprivileged: metadata.flag("UNPRIVILEGED_POD"),
    enableHbone: metadata.flag("ENABLE_HBONE"),
    disableHboneSend: metadata.flag("DISABLE_HBONE_SEND"),
    proxyHeaders: options.internHeaders(proxyHeaders ?? options.mesh.defaultConfig.proxyHeaders),
    serviceCluster: clusterName(node, metadata),
    tracing: options.internTracing(tracingOf(own) ?? tracingOf(options.mesh.defaultConfig)),
    ...(gatewayTopology ? { gatewayTopology } : {}),
    patched: {
      version: versionOf(metadata),
      metadata: (key) => fromStruct(node.metadata)[key],
    },
    labels,
  };
}

/** The proxy's own tracer replaces the mesh's tracer as a whole. */
function tracingOf({ tracing, zipkinAddress }: OwnTracing): OwnTracing | undefined {
  if (tracing === undefined && !zipkinAddress) return undefined;
  return { ...(tracing ? { tracing } : {}), ...(zipkinAddress ? { zipkinAddress } : {}) };
}

function clusterName({ cluster = "" }: envoy.config.core.v3.Node, metadata: Metadata): string {
  if (cluster.length <= MAX_CLUSTER) return cluster;
  metadata.problems.push(`cluster has ${cluster.length} characters, expected at most ${MAX_CLUSTER}`);
  return "";
}

function versionOf(metadata: Metadata): string {
  return metadata.text("MESH_VERSION") || metadata.text("ISTIO_VERSION");
}

function clusterOf(metadata: Metadata, { clusterId, clusterAliases }: NodeOptions): string {
  const named = metadata.text("CLUSTER_ID") || clusterId;
  if (Object.hasOwn(clusterAliases, named)) return clusterAliases[named]!;
  return isSameCluster(named, clusterId) ? clusterId : named;
}

function addressesOf(id: NodeId, metadata: Metadata): string[] {
  const listed = metadata.list("INSTANCE_IPS");
  for (const address of listed) {
    if (!isIp(address)) {
      metadata.problems.push(`metadata INSTANCE_IPS has ${JSON.stringify(address)}, expected IP addresses`);
    }
  }
  const all = listed.filter(isIp);
  if (all.length === 0 && id.address !== "") all.push(id.address);
  if (all.length === 0) metadata.problems.push("no address, expected one in the node id or in metadata INSTANCE_IPS");
  return all.map(canonicalIp);
}

/**
 * The locality label takes precedence over the proxy's own report, because the operator of the workload sets the label.
 */
function localityOf(node: envoy.config.core.v3.Node, labels: Labels, metadata: Metadata): string {
  const place = [REGION_LABEL, ZONE_LABEL, SUBZONE_LABEL].map((key) => labels[key] ?? "");
  if (place.some((part) => part !== "")) return joinPlace(place);
  const locality = localityOfLabels(labels);
  if (locality !== "") return locality;
  const { region = "", zone = "", sub_zone = "" } = node.locality ?? {};
  const own = joinPlace([region, zone, sub_zone]);
  if (own.length <= MAX_LOCALITY) return own;
  metadata.problems.push(`locality has ${own.length} characters, expected at most ${MAX_LOCALITY}`);
  return "";
}

function joinPlace(parts: readonly string[]): string {
  return parts.slice(0, parts.findLastIndex((part) => part !== "") + 1).join("/");
}

function isMode(text: string): text is InterceptionMode {
  return text === "REDIRECT" || text === "TPROXY" || text === "NONE";
}

/** A client without a list of extensions counts as a full build (only real proxies list extensions). */
function listedExtensions(node: envoy.config.core.v3.Node): ReadonlySet<string> | undefined {
  const names = (node.extensions ?? []).map((extension) => extension.name ?? "");
  return names.length > 0 ? new Set(names) : undefined;
}
