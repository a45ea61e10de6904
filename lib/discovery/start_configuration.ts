/**
 * The configuration of a server: all sources are read once, and followed from then on.
 *
 * Permissions: read of the folders, net (the API of the orchestrator).
 *
 * @module
 */
import { hasNetworkGateways } from "../gateway_api/built_in_classes.ts";
import type { Derivation } from "../config/derive/derivation.ts";
import type { Finding } from "../finding/finding.ts";
import { entriesOf } from "../kernel/files/regular.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { ApiClient } from "../orch/client/client.ts";
import { type ConfigSourcesOptions, orchSource, type RemoteClient, startConfigSources } from "./config_sources.ts";
import { Configuration } from "./sources/configuration.ts";
import type { VerdictListener } from "../gateway_api/groups/derivation.ts";
import { GatewayApiVerdicts } from "../gateway_api/groups/verdicts.ts";
import type { GatewayApiSettings } from "../gateway_api/groups/options.ts";
import { followGatewayNetworks } from "./sources/gateway_networks.ts";
import { followNamespaces } from "./sources/namespace_labels.ts";
import { followWaypointAddresses } from "./sources/waypoint_addresses.ts";
import { serverDerivations } from "./sources/derivations.ts";
import type { MeshSource } from "./sources/mesh_source.ts";
import type { OrchScope } from "./sources/orchestrator.ts";
import { struct } from "../pb/wellknown.ts";
import type { Pipeline } from "./pipeline/pipeline.ts";
import { startRootNamespace } from "./sources/root_namespace.ts";
import type { ServerServices } from "./clusters/services.ts";
import type { DiscoverySettings, GatewayApiVariables, SharingApiVariables } from "./settings/settings.ts";
import { folderFault, type StartFault } from "./settings/start_error.ts";

/** Where configuration is. */
export interface ConfigurationOptions extends Omit<ConfigSourcesOptions, "source" | "client"> {
  readonly clusterId: string;
  /** DNS suffix of services. */
  readonly domain: string;
  readonly systemNamespace: string;
  /** Silence after which another control plane is pinged, and the wait for its answer, milliseconds. */
  readonly keepaliveInterval: number;
  readonly keepaliveTimeout: number;
  /** The parts of the orchestrator that are read. Default: there is no orchestrator. */
  readonly orch?: OrchScope | undefined;
  /** Services of manifests in the folders are part of the mesh. Default false. */
  readonly manifestServices?: boolean;
  /** Derivations of objects from objects and facts, beside the derivation from Ingresses. Default: none. */
  readonly derivations?: readonly Derivation[];
}

/**
 * The configuration of a server, without any source yet. The configuration hands the objects of its sources to the
 * pipeline.
 */
export function newConfiguration(
  options: ConfigurationOptions,
  settings:
    & Pick<
      DiscoverySettings,
      "ENABLE_INGRESS_WAYPOINT_ROUTING" | "ORCH_INGRESS_NS" | "PILOT_ENABLE_AMBIENT_WAYPOINTS" | "REVISION"
    >
    & GatewayApiSettings,
  { mesh, pipeline, services }: {
    readonly mesh: MeshSource;
    readonly pipeline: Pipeline;
    readonly services: Pick<ServerServices, "taker">;
  },
  kernel: Pick<Kernel, "log" | "metrics" | "clock">,
): Configuration {
  const gatewayApi = new GatewayApiVerdicts();
  const reads = { revision: settings.REVISION, foldersAreCluster: options.manifestServices ?? false, gatewayApi };
  if (settings.PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API) followGatewayNetworks(gatewayApi, pipeline.aggregate.networks);
  const learned: VerdictListener = (group, verdicts) => gatewayApi.learn(group, verdicts);
  const derivations = serverDerivations({ ...options, learned }, settings);
  const configuration = new Configuration(pipeline, derivations, kernel, services.taker, reads);
  configuration.followMesh(mesh);
  if (settings.PILOT_ENABLE_AMBIENT_WAYPOINTS || settings.AMBIENT_ENABLE_MULTI_NETWORK) {
    followNamespaces(configuration.facts, pipeline);
  }
  if (settings.ENABLE_INGRESS_WAYPOINT_ROUTING || hasNetworkGateways(settings)) {
    followWaypointAddresses(configuration.store, pipeline);
  }
  return configuration;
}

/** A part of a server with findings about its configuration. */
export interface FindingPart {
  findings(): Iterable<Finding>;
}

/** The settings in use. */
type SourceVariables =
  & SharingApiVariables
  & GatewayApiVariables
  & Pick<DiscoverySettings, "MESH_SELF_CHECK_INTERVAL" | "POD_NAME" | "REVISION">;

/**
 * Reads all sources of the configuration, and follows them from then on.
 *
 * @returns When everything has been read, and each remote cluster has been read or is not waited for.
 * @throws {StartError} When a folder cannot be read, or when the list names an orchestrator and the server has no
 * access.
 */
export async function startSources(
  options: ConfigurationOptions,
  settings: SourceVariables,
  { orch, mesh, services, configuration }: {
    readonly orch: ApiClient | undefined;
    readonly mesh: MeshSource;
    readonly services: ServerServices;
    readonly configuration: Configuration;
  },
  kernel: Pick<Kernel, "log">,
): Promise<readonly FindingPart[]> {
  const source = orchSource(orch, options, settings);
  const sources = await startConfigSources(
    { ...options, source, client: remoteClient(options, settings) },
    mesh,
    configuration,
    kernel,
  );
  await services.settled;
  if (orch !== undefined) {
    const own = { cluster: options.clusterId, services: services.check };
    const others = () => services.remote?.clusters.checked() ?? [];
    configuration.startSelfCheck(settings.MESH_SELF_CHECK_INTERVAL, own, others);
  }
  return [sources, startRootNamespace(configuration.store, mesh, options.systemNamespace, kernel, options.configDir)];
}

/** The fault of an unreadable folder, for a start that another fault has ended. */
export async function folderFaults(root: string | undefined): Promise<StartFault[]> {
  if (root === undefined) return [];
  try {
    await entriesOf(root);
    return [];
  } catch (error) {
    const fault = folderFault(root, error);
    return fault === undefined ? [] : [fault];
  }
}

/**
 * Name and metadata of this server in requests to other control planes, in the form of a workload's node that asks for
 * configuration.
 */
function remoteClient(
  { domain, systemNamespace, keepaliveInterval, keepaliveTimeout }: ConfigurationOptions,
  settings: Pick<DiscoverySettings, "POD_NAME" | "REVISION">,
): RemoteClient {
  const name = settings.POD_NAME || Deno.hostname();
  const node = {
    id: `sidecar~0.0.0.0~${name}.${systemNamespace}~${systemNamespace}.svc.${domain}`,
    metadata: struct({ GENERATOR: "api", NAMESPACE: systemNamespace, ISTIO_REVISION: settings.REVISION }),
  };
  return { node, keepaliveInterval, keepaliveTimeout };
}
