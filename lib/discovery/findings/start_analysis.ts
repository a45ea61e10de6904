/**
 * The analysis of a running server: its own configuration and objects, and the secrets of remote clusters.
 *
 * Permissions: the permissions of {@linkcode AnalysisRunner}.
 *
 * @module
 */
import { type GatewayApiSettings, servedGatewayApi } from "../../analyze/reader/source.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { AnalysisRunner } from "./analysis_runner.ts";
import { refusedKeys } from "../../config/refused/refused_keys.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { Configuration } from "../sources/configuration.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import type { ServerServices } from "../clusters/services.ts";

interface AnalyzedParts {
  readonly pipeline: Pipeline;
  readonly configuration: Configuration;
  readonly services: Pick<ServerServices, "remote">;
}

/** Where objects and services come from. */
interface AnalyzedSource {
  /** DNS suffix of services. */
  readonly domain: string;
  /** Whether an orchestrator's API tells everything that exists. */
  readonly isWhole: boolean;
  /** Whether services come only from folders. */
  readonly isFolder: boolean;
}

/** The settings in use. */
interface AnalysisVariables extends GatewayApiSettings {
  readonly ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES: boolean;
  readonly MESH_WAYPOINT_FAIL_OPEN: boolean;
  readonly PILOT_ENABLE_AMBIENT: boolean;
  readonly PILOT_ENABLE_AMBIENT_WAYPOINTS: boolean;
}

/**
 * The analysis, until the kernel stops. The first look waits for {@linkcode AnalysisRunner.begin}.
 */
export function startAnalysis(
  { domain, isWhole, isFolder }: AnalyzedSource,
  variables: AnalysisVariables,
  { pipeline, configuration, services: { remote } }: AnalyzedParts,
  kernel: Pick<Kernel, "log" | "metrics" | "clock" | "stopper">,
): AnalysisRunner {
  const { store, facts } = configuration;
  const { PILOT_ENABLE_AMBIENT_WAYPOINTS: waypoints } = variables;
  const tunnels = {
    served: variables.PILOT_ENABLE_AMBIENT,
    opensWithoutWaypoint: variables.MESH_WAYPOINT_FAIL_OPEN,
    layersPolicies: variables.ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES,
  };
  const settings = { domainSuffix: domain, assumeServices: false, whole: isWhole, served: true, waypoints, tunnels };
  const gatewayApi = servedGatewayApi(configuration.gatewayApi, { domain, isFolder }, variables);
  const analysis = new AnalysisRunner(
    pipeline,
    {
      ...{ store, facts, settings, gatewayApi, texts: configuration },
      remoteFacts: () => remote?.clusters.factsByCluster() ?? new Map(),
    },
    () => refusedKeys(configuration),
    kernel,
  );
  remote?.onFacts((changes) => analysis.remoteChanged(changes));
  configuration.gatewayApi.onChange((keys) => analysis.verdictsChanged(keys));
  if (tunnels.served) followGateways(store, analysis);
  kernel.stopper.add("analysis", () => analysis.stop());
  return analysis;
}

/** Addresses in the status of a Gateway make a waypoint ready. Translation reads no status, and hears of no change. */
function followGateways(store: Configuration["store"], analysis: AnalysisRunner): void {
  store.subscribe(({ refreshed }) => {
    const moved = refreshed.filter((one) =>
      one.new.kind === "ApiGateway" && addressesOf(one.old) !== addressesOf(one.new)
    );
    if (moved.length > 0) analysis.statusesChanged(moved.map((one) => one.new.key));
  });
}

function addressesOf({ status }: ConfigObject): string {
  return JSON.stringify(status?.["addresses"] ?? []);
}
