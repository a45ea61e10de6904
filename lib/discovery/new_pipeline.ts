/**
 * The pipeline of a server by its settings.
 *
 * Permissions: net (name servers, for names of networks' gateways).
 *
 * @module
 */
import type { Kernel } from "../kernel/kernel.ts";
import { ResolvedNames } from "./lookups/gateway_names.ts";
import type { MeshSource } from "./sources/mesh_source.ts";
import { Pipeline } from "./pipeline/pipeline.ts";
import type { ServerTokenKeys } from "./lookups/server_token_keys.ts";
import {
  cacheSwitches,
  debounceOptions,
  type DiscoverySettings,
  entryOptions,
  translateSettings,
  type TranslateVariables,
} from "./settings/settings.ts";
import type { StagedObjects } from "../rollout/staged_objects.ts";
import type { NodeReader } from "./pipeline/node_reader.ts";

/** Inputs of the pipeline of a server. */
export interface PipelineParts {
  readonly mesh: MeshSource;
  readonly nodes: NodeReader;
  readonly tokenKeys: ServerTokenKeys;
  readonly gatewayNames: ResolvedNames | undefined;
  /** Objects that only some proxies have. Undefined: nothing is staged. */
  readonly staged: StagedObjects | undefined;
}

/** The resolver of host names of networks' gateways; undefined: `RESOLVE_HOSTNAME_GATEWAYS` is off. */
export function newGatewayNames(
  settings: Pick<DiscoverySettings, "RESOLVE_HOSTNAME_GATEWAYS">,
  kernel: Pick<Kernel, "log" | "clock">,
): ResolvedNames | undefined {
  if (!settings.RESOLVE_HOSTNAME_GATEWAYS) return undefined;
  return new ResolvedNames({ clock: kernel.clock, log: kernel.log.scope("default") });
}

/** The settings in use. */
type PipelineVariables =
  & TranslateVariables
  & Pick<
    DiscoverySettings,
    | "ENABLE_ENHANCED_DESTINATIONRULE_MERGE"
    | "PILOT_DEBOUNCE_AFTER"
    | "PILOT_DEBOUNCE_MAX"
    | "PILOT_ENABLE_CDS_CACHE"
    | "PILOT_ENABLE_EDS_DEBOUNCE"
    | "PILOT_ENABLE_RDS_CACHE"
    | "PILOT_ENABLE_SERVICEENTRY_SELECT_PODS"
    | "PILOT_ENABLE_WORKLOAD_ENTRY_HEALTHCHECKS"
    | "PILOT_ENABLE_XDS_CACHE"
  >;

/** Makes the pipeline. Its inputs are the mesh configuration and changes. */
export function newPipeline(
  options: {
    readonly domain: string;
    readonly clusterId: string;
    readonly variable?: (name: string) => string | undefined;
  },
  settings: PipelineVariables,
  kernel: Pick<Kernel, "log" | "metrics">,
  { mesh, nodes, tokenKeys, gatewayNames, staged }: PipelineParts,
): Pipeline {
  const log = kernel.log.scope("fullpush");
  const internal = kernel.metrics.counter("pilot_total_xds_internal_errors");
  const pushes = kernel.metrics.counter("pilot_xds_pushes");
  const pipeline = new Pipeline({
    ...mesh.state,
    settings: translateSettings(settings, options.domain, options.variable),
    caches: cacheSwitches(settings),
    debounce: debounceOptions(settings),
    entries: entryOptions(settings, options.clusterId),
    enhancedDestinationRuleMerge: settings.ENABLE_ENHANCED_DESTINATIONRULE_MERGE,
    tokenKeys: { keysAt: (place) => tokenKeys.resolver.keysAt(place), findings: () => tokenKeys.findings() },
    gatewayNames,
    staged,
    stagesNothing: staged === undefined,
    readAgain: (proxy, config) => nodes.read(proxy.node, proxy.properties.vhds, config),
    failed: (error, change) => {
      internal.inc();
      log.error("a push failed; the earlier resources stay in force", { error, objects: [...change.objects] });
    },
    buildFailed: (kind, name, error) => {
      internal.inc();
      for (const service of kind.services) pushes.inc({ type: `${service}_builderr` });
      log.error("a resource could not be built; its last version stays", { kind: kind.name, name, error });
    },
    measured: ({ debounce, translate }) => {
      kernel.metrics.histogram("pilot_debounce_time").observe(debounce);
      kernel.metrics.histogram("pilot_pushcontext_init_seconds").observe(translate);
    },
  });
  if (gatewayNames !== undefined) gatewayNames.changed = () => pipeline.networksChanged();
  return pipeline;
}
