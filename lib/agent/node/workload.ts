/**
 * A workload as the agent knows it, and the node of the workload's proxy.
 *
 * @module
 */
import { commaList } from "../../kernel/text/comma_list.ts";
import { encodeField } from "../../config/schema/encode.ts";
import { proxySettings } from "../../config/mesh/proxy_schema.ts";
import type { ProxySettings } from "../../config/mesh/types.ts";
import { NAMED_BY_VARIABLE, PEER_METADATA } from "../../config/mesh/peer_metadata.ts";
import type { Settings } from "../../kernel/settings/catalogue.ts";
import { type AgentNode, type AgentRole, nodeCluster, nodeId, type NodeLocality, nodeLocality } from "./agent_node.ts";
import { type MetadataFinding, type MetadataValue, nodeMetadata } from "./node_metadata.ts";
import { peerMetadata } from "./peer_metadata.ts";

/** Settings that name the workload, or go to the server. */
export type WorkloadSettings = Pick<
  Settings,
  | "POD_NAME"
  | "POD_NAMESPACE"
  | "SERVICE_ACCOUNT"
  | "INSTANCE_IP"
  | "PROXY_STATUS_PORT"
  | "PROXY_METRICS_PORT"
  | "PROXY_SKIP_DEPRECATED_LOGS"
  | "EXIT_ON_ZERO_ACTIVE_CONNECTIONS"
  | "MESHD_SAN"
  | "MESH_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION"
  | "PILOT_MX_ADDITIONAL_LABELS"
>;

/** Known facts about a workload. */
export interface WorkloadInput {
  readonly role: AgentRole;
  readonly settings: WorkloadSettings;
  /** Environment, in our spelling. */
  readonly variables: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly machine: {
    readonly hostname: string;
    /** Addresses of the machine's interfaces, without loopback and link-local addresses. */
    readonly addresses: readonly string[];
  };
  readonly proxy: ProxySettings;
  /** DNS suffix of the workload's services. Empty: made of the namespace. */
  readonly domain: string;
  readonly serviceCluster: string;
  readonly outlierLogPath: string | undefined;
  /** 0: no token service. */
  readonly stsPort: number;
  readonly version: string;
  /** The cloud's facts about the machine. Absent: the machine is in no cloud. */
  readonly cloud?: {
    readonly metadata: Readonly<Record<string, string>>;
    /** In force where no label places the workload. */
    readonly locality: NodeLocality;
  };
}

export interface AgentWorkload {
  readonly role: AgentRole;
  readonly name: string;
  readonly namespace: string;
  /** DNS suffix of the workload's services, such as `shop.svc.cluster.local`. */
  readonly domain: string;
  readonly serviceAccount: string;
  /** The workload's addresses, the main address first. */
  readonly addresses: readonly string[];
  readonly node: AgentNode;
  /** The workload's statement about itself, for peers. */
  readonly peerStatement: string;
  readonly problems: readonly MetadataFinding[];
}

/** Puts the known facts together. */
export function workloadOf(input: WorkloadInput): AgentWorkload {
  const { settings, proxy, labels } = input;
  const name = settings.POD_NAME || input.machine.hostname;
  const namespace = settings.POD_NAMESPACE || "default";
  const serviceAccount = settings.SERVICE_ACCOUNT || "default";
  const known = [...new Set([...commaList(settings.INSTANCE_IP), ...input.machine.addresses])].filter((ip) =>
    ip !== ""
  );
  const addresses = known.length === 0 ? ["127.0.0.1"] : known;
  const { metadata, problems } = nodeMetadata({
    variables: input.variables,
    labels,
    annotations: input.annotations,
    addresses,
    name,
    namespace,
    serviceAccount,
    version: input.version,
    proxyConfig: encodeField(proxySettings, proxy) as MetadataValue,
    defaults: metadataDefaults(input),
  });
  const domain = input.domain || `${namespace}.svc.cluster.local`;
  const placed = nodeLocality(labels);
  const workload = typeof metadata.WORKLOAD_NAME === "string" ? metadata.WORKLOAD_NAME : "";
  const peer = peerMetadata({
    workload,
    namespace,
    cluster: typeof metadata.CLUSTER_ID === "string" ? metadata.CLUSTER_ID : "",
    labels: metadata.LABELS as Readonly<Record<string, string>> | undefined ?? {},
    additional: commaList(settings.PILOT_MX_ADDITIONAL_LABELS),
  });
  const node = {
    id: nodeId({ role: input.role, address: addresses[0]!, name, namespace, domain }),
    cluster: nodeCluster({ proxy, flag: input.serviceCluster, labels, workload, namespace }),
    locality: Object.keys(placed).length > 0 ? placed : input.cloud?.locality ?? {},
    metadata: { ...metadata, [PEER_METADATA]: peer, [NAMED_BY_VARIABLE]: "true" },
  };
  const peerStatement = peer.header;
  return { role: input.role, name, namespace, domain, serviceAccount, addresses, node, peerStatement, problems };
}

function metadataDefaults({ settings, proxy, outlierLogPath, stsPort, cloud }: WorkloadInput) {
  const ofCloud = cloud?.metadata ?? {};
  return {
    ...(Object.keys(ofCloud).length === 0 ? {} : { PLATFORM_METADATA: ofCloud }),
    INTERCEPTION_MODE: proxy.interceptionMode,
    ENVOY_STATUS_PORT: settings.PROXY_STATUS_PORT,
    ENVOY_PROMETHEUS_PORT: settings.PROXY_METRICS_PORT,
    ...(settings.PROXY_SKIP_DEPRECATED_LOGS ? {} : { ENVOY_SKIP_DEPRECATED_LOGS: "false" }),
    ...(settings.EXIT_ON_ZERO_ACTIVE_CONNECTIONS ? { EXIT_ON_ZERO_ACTIVE_CONNECTIONS: "true" } : {}),
    ...(settings.MESH_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION ? {} : { WASM_REMOTE_LOAD_CONVERSION: "false" }),
    ...(settings.MESHD_SAN === "" ? {} : { PILOT_SAN: [settings.MESHD_SAN] }),
    ...(outlierLogPath === undefined ? {} : { OUTLIER_LOG_PATH: outlierLogPath }),
    ...(stsPort === 0 ? {} : { STS_PORT: String(stsPort) }),
    ...(proxy.meshId === undefined ? {} : { MESH_ID: proxy.meshId }),
  };
}
