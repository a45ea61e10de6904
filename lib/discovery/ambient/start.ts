/**
 * The resources of node tunnels in a running server (`PILOT_ENABLE_AMBIENT`).
 *
 * @module
 */
import { AMBIENT_CONFIGURATION, AMBIENT_FACTS } from "../../ambient/objects.ts";
import { WAYPOINT_POLICIES } from "../../mesh/waypoints/policies.ts";
import type { Fact } from "../../config/facts/types.ts";
import type { ChangeSet } from "../../config/store.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import { type DiscoverySettings, hasSeveralNetworks } from "../settings/settings.ts";
import type { Configuration } from "../sources/configuration.ts";
import { factServices, type ServiceFacts } from "../sources/fact_registry.ts";
import type { MeshSource } from "../sources/mesh_source.ts";
import { scopeOfService } from "../../mesh/service_scope.ts";
import { TunnelResources } from "./tunnels.ts";

/** The options in use. */
interface AmbientOptions extends ServiceFacts {
  readonly clusterId: string;
  readonly domain: string;
  readonly systemNamespace: string;
}

/** The remote clusters of a server. */
interface FollowedClusters {
  /** Tells a listener everything that was read of the clusters, and each change from then on. */
  follow(listener: {
    changed(cluster: string, changes: ChangeSet<Fact> | ChangeSet): void;
    gone(cluster: string): void;
  }): void;
}

/** The settings in use. */
type AmbientVariables = Pick<
  DiscoverySettings,
  | "AMBIENT_ENABLE_MULTI_NETWORK"
  | "MESH_WAYPOINT_FAIL_OPEN"
  | "PILOT_AUTO_ALLOW_WAYPOINT_POLICY"
  | "PILOT_ENABLE_AMBIENT"
  | "PILOT_ENABLE_IP_AUTOALLOCATE"
  | "PILOT_ENABLE_ORCH_SELECT_WORKLOAD_ENTRIES"
  | "PILOT_ENABLE_SERVICEENTRY_SELECT_PODS"
>;

/**
 * The resources of tunnels, made from everything that was read, and kept up to date from then on. Undefined: the server
 * serves no tunnels.
 */
export async function startTunnelResources(
  options: AmbientOptions,
  settings: AmbientVariables,
  { pipeline, configuration, mesh, remote }: {
    readonly pipeline: Pipeline;
    readonly configuration: Pick<Configuration, "store" | "facts">;
    readonly mesh: Pick<MeshSource, "onChange" | "state">;
    /** Undefined: there are no remote clusters. */
    readonly remote: FollowedClusters | undefined;
  },
  kernel: Pick<Kernel, "log" | "metrics" | "stopper">,
): Promise<TunnelResources | undefined> {
  if (!settings.PILOT_ENABLE_AMBIENT) return undefined;
  const internal = kernel.metrics.counter("pilot_total_xds_internal_errors");
  const failed = (part: string, error: unknown) => {
    internal.inc();
    kernel.log.scope("ads").error("a resource of node tunnels could not be made; its last version stays", {
      ...{ part, error },
    });
  };
  const hasNetworks = hasSeveralNetworks(settings);
  const tunnels = new TunnelResources({
    ...options,
    rootNamespace: () => pipeline.mesh.rootNamespace,
    trustDomain: () => pipeline.mesh.trustDomain,
    selectPods: settings.PILOT_ENABLE_SERVICEENTRY_SELECT_PODS,
    selectWorkloadEntries: settings.PILOT_ENABLE_ORCH_SELECT_WORKLOAD_ENTRIES,
    opensWithoutWaypoint: settings.MESH_WAYPOINT_FAIL_OPEN,
    admitsWaypoints: settings.PILOT_AUTO_ALLOW_WAYPOINT_POLICY,
    ...hasNetworks && {
      isGlobal: (service) => scopeOfService(mesh.state.mesh.serviceScopeConfigs ?? [], service) === "GLOBAL",
    },
    failed,
    assigned: ({ key }) => settings.PILOT_ENABLE_IP_AUTOALLOCATE ? pipeline.entries.assignment(key) ?? [] : [],
  }, {
    mesh: pipeline.mesh,
    table: pipeline.table,
    changed: () => pipeline.tunnelsChanged(),
    failed: (error) => failed("all", error),
  });
  const from = factServices(options);
  tunnels.follow(configuration.facts, AMBIENT_FACTS, ({ origin }: Fact) => from !== undefined && origin.from === from);
  tunnels.follow(configuration.store, [...AMBIENT_CONFIGURATION, ...WAYPOINT_POLICIES, "PeerAuthentication"]);
  pipeline.entries.onAssigned((entries) => tunnels.reassigned(entries));
  if (hasNetworks) {
    remote?.follow({
      changed: (cluster, changes) => tunnels.remoteChanged(cluster, changes),
      gone: (cluster) => tunnels.remoteGone(cluster),
    });
  }
  mesh.onChange((state) => tunnels.useMesh(state.mesh));
  kernel.stopper.add("node tunnels", () => tunnels.stop());
  await tunnels.settle();
  return tunnels;
}
