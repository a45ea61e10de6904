/**
 * The bootstrap of a workload's proxy: a pure function of the proxy's node, the settings and the machine.
 *
 * @module
 */
import type { ProxySettings } from "../../config/mesh/types.ts";
import type { AgentNode } from "../node/agent_node.ts";
import { type EnvoyJson, tcpAddress, typed } from "./envoy_json.ts";
import { familiesOf } from "./families.ts";
import { localClusters } from "./local_clusters.ts";
import { type BootstrapFinding, remoteClusters, statsSinks } from "./remote_clusters.ts";
import { overloadManager, runtimeValues } from "./runtime.ts";
import { METRICS_COMPRESSIONS, staticListeners } from "./static_listeners.ts";
import { statsAnnotation, statsConfig, type StatsFinding } from "./stats.ts";
import { tracingConfig } from "./tracing.ts";

export interface BootstrapInput {
  readonly node: AgentNode;
  readonly proxy: ProxySettings;
  readonly annotations: Readonly<Record<string, string>>;
  /** Addresses of the workload, the main one first. */
  readonly addresses: readonly string[];
  readonly dualStack: boolean;
  readonly delta: boolean;
  readonly readinessPort: number;
  readonly metricsPort: number;
  readonly metricsLocalOnly: boolean;
  readonly countsConnections: boolean;
  /** Age after which unused metric series are removed, ms. 0 (the default): never. */
  readonly evictionInterval?: number;
  readonly outlierLogPath: string | undefined;
  /** Log lines of Envoy are JSON. */
  readonly logAsJson: boolean;
  /** Limits TLS to the parameters that FIPS 140-2 allows (`COMPLIANCE_POLICY`). Default false. */
  readonly fips?: boolean;
  readonly sockets: BootstrapSockets;
}

/** Unix sockets in a bootstrap. */
export interface BootstrapSockets {
  readonly xds: string;
  readonly sds: string;
  /** Absent: certificates in files come over `sds`. */
  readonly files?: string;
  /** Absent: no other program serves credentials. */
  readonly credentials?: string;
  /** Folder for the files that Envoy writes. */
  readonly data: string;
}

/** A bootstrap as protojson, and the settings without an effect on the bootstrap. */
export interface Bootstrap {
  readonly config: EnvoyJson;
  readonly problems: readonly BootstrapFinding[];
}

/** Makes the bootstrap. */
export function bootstrap(input: BootstrapInput): Bootstrap {
  const { node, proxy, sockets } = input;
  const families = familiesOf(input.addresses, input.dualStack);
  const remote = remoteClusters(proxy, families, input.fips === true);
  const clusters = [
    ...localClusters({
      localhost: families.localhost,
      adminPort: proxy.proxyAdminPort,
      agentPort: proxy.statusPort,
      xdsSocket: sockets.xds,
      sdsSocket: sockets.sds,
      filesSocket: sockets.files,
      credentialSocket: sockets.credentials,
    }),
    ...remote.clusters,
  ];
  const tracing = tracingConfig(proxy, node.cluster, clusters);
  const stats = statsConfig(input);
  const compression = statsAnnotation(input.annotations, "compression");
  const sinks = statsSinks(proxy, clusters);
  const { outlierLogPath } = input;
  const overload_manager = overloadManager(proxy.runtimeValues);
  const config = {
    ...(input.logAsJson ? { application_log_config: { log_format: { json_format: LOG_FIELDS } } } : {}),
    node: { id: node.id, cluster: node.cluster, locality: node.locality, metadata: bootstrapMetadata(input) },
    layered_runtime: {
      ["layers"]: [
        { name: "global config", static_layer: runtimeValues(proxy.runtimeValues) },
        { name: "admin", admin_layer: {} },
      ],
    },
    ...(overload_manager === undefined ? {} : { overload_manager }),
    bootstrap_extensions: [{
      name: "envoy.bootstrap.internal_listener",
      typed_config: typed("envoy.extensions.bootstrap.internal_listener.v3.InternalListener", { buffer_size_kb: 64 }),
    }],
    stats_config: stats.config,
    ...(input.evictionInterval ? { stats_eviction_interval: `${input.evictionInterval / 1000}s` } : {}),
    ...(sinks.length === 0 ? {} : { stats_sinks: sinks }),
    admin: {
      profile_path: `${sockets.data}/envoy.prof`,
      address: tcpAddress(families.localhost, proxy.proxyAdminPort),
    },
    dynamic_resources: dynamicResources(input.delta),
    ...(tracing.config === undefined ? {} : { tracing: tracing.config }),
    ...(outlierLogPath === undefined
      ? {}
      : { cluster_manager: { outlier_detection: { event_log_path: outlierLogPath } } }),
    static_resources: {
      clusters,
      listeners: staticListeners({
        families,
        metricsPort: input.metricsPort,
        metricsLocalOnly: input.metricsLocalOnly,
        readinessPort: input.readinessPort,
        compression,
      }),
    },
  };
  const problems = [
    ...remote.problems,
    ...tracing.problems,
    ...keyProblems(proxy),
    ...annotationProblems(stats.problems, compression),
  ];
  return { config, problems };
}

/** The node's metadata. One entry tells the server which sockets the proxy may request secrets from. */
export function bootstrapMetadata({ node, sockets }: BootstrapInput): AgentNode["metadata"] {
  return {
    ...node.metadata,
    ...(sockets.files === undefined ? {} : { "file-credential": "true" }),
    ...(sockets.credentials === undefined ? {} : { credential: "true" }),
  };
}

/** Fields of a log line, named as in the agent's own log. */
const LOG_FIELDS = {
  time: "%Y-%m-%dT%T.%fZ",
  level: "%l",
  scope: "envoy",
  component: "%n",
  msg: "%j",
  caller: "%g:%#",
};

/** Envoy as it is released has no provider of private keys. */
function keyProblems({ privateKeyProvider }: ProxySettings): BootstrapFinding[] {
  const [value] = Object.keys(privateKeyProvider ?? {});
  return value === undefined
    ? []
    : [{ field: "privateKeyProvider", value, expected: "none: keys are used without it" }];
}

function annotationProblems(ofStats: readonly StatsFinding[], compression: string | undefined): BootstrapFinding[] {
  const found = ofStats.map(({ annotation, value, expected }) => ({
    field: `annotation sidecar.mesh.io/${annotation}`,
    value,
    expected,
  }));
  const known = compression === undefined || METRICS_COMPRESSIONS.some((name) => name === compression);
  const wrong = { field: "annotation sidecar.mesh.io/statsCompression", value: compression ?? "" };
  return known ? found : [...found, { ...wrong, expected: METRICS_COMPRESSIONS.join(", ") }];
}

/**
 * Everything else comes over one stream. The proxy waits for the server without a limit: there is no other
 * configuration to start with.
 */
function dynamicResources(delta: boolean): EnvoyJson {
  const source = { ads: {}, initial_fetch_timeout: "0s", resource_api_version: "V3" };
  return {
    lds_config: source,
    cds_config: source,
    ads_config: {
      api_type: delta ? "DELTA_GRPC" : "GRPC",
      transport_api_version: "V3",
      set_node_on_first_message_only: true,
      grpc_services: [{
        envoy_grpc: {
          cluster_name: "xds-grpc",
          retry_policy: { retry_back_off: { base_interval: "0.1s", max_interval: "5s" } },
        },
      }],
    },
  };
}
