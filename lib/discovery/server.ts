/**
 * The discovery server, assembled: sources to pipeline to wire, and the pages around them.
 *
 *     mesh files ──┐
 *     folder ──────┤
 *     orchestrator ┼─> pipeline ─> xDS server ─> proxies
 *     registries ──┘      └──────> pages: /ready, /debug, /metrics, /version
 *
 * Permissions: net (the listen addresses, the API of the orchestrator), read (the folder and the mesh files).
 *
 * @module
 */
import type { Finding } from "../finding/finding.ts";
import type { ConfigStore } from "../config/store.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { XdsServer } from "../xds/server.ts";
import type { AnalysisRunner } from "./findings/analysis_runner.ts";
import type { Configuration } from "./sources/configuration.ts";
import type { MeshSource } from "./sources/mesh_source.ts";
import type { Pipeline } from "./pipeline/pipeline.ts";
import type { ServerPorts } from "./ports.ts";
import type { DiscoveryServerOptions } from "./server_options.ts";
import { SERVER_PARTS } from "./server_parts.ts";
import type { DiscoverySettings } from "./settings/settings.ts";

/** A running server. */
export interface DiscoveryServer {
  readonly pipeline: Pipeline;
  readonly xds: XdsServer;
  readonly store: ConfigStore;
  /** Sources, facts and derivations of the server. */
  readonly configuration: Configuration;
  readonly mesh: MeshSource;
  /** Findings of the analysis of the whole mesh. */
  readonly analysis: AnalysisRunner;
  /** The present findings about configuration. */
  readonly findings: () => Iterable<Finding>;
  /** Ports in use, of interest where 0 was asked for. */
  readonly ports: ServerPorts;
}

/**
 * Starts a server: the parts of `./server_parts.ts`, in their order.
 *
 * @returns When sources are synced and the server listens.
 * @throws {StartError} When a source cannot be read, the mesh configuration has errors, or a port cannot be used. The
 * error names all faults at once.
 */
export async function startDiscoveryServer(
  options: DiscoveryServerOptions,
  settings: DiscoverySettings,
  kernel: Kernel,
): Promise<DiscoveryServer> {
  const { pipeline, wire, configuration, mesh, analysis, pages, ports } = await SERVER_PARTS.start(
    { options, settings, kernel },
    kernel,
  );
  const { store } = configuration;
  return { pipeline, xds: wire, store, configuration, mesh, analysis, findings: pages.findings, ports };
}
