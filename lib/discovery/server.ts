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
import type { Finding } from "../config/finding/finding.ts";
import type { Explainer, PreviewRunner } from "../debug/runners.ts";
import type { DebugView } from "../debug/view.ts";
import type { Derivation } from "../config/derive/derivation.ts";
import type { ConfigStore } from "../config/store.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { startHealthReports } from "./health_reports.ts";
import { joinedIfAny } from "./joined_roots.ts";
import { startEntryHealth } from "./registration/entry_health.ts";
import { giveMemoryBack } from "../kernel/program/memory.ts";
import type { AccessPlace } from "../orch/access/find.ts";
import type { ApiClient } from "../orch/client/client.ts";
import type { Registry } from "../registry/types.ts";
import type { XdsServer } from "../xds/server.ts";
import type { AnalysisRunner } from "./analysis_runner.ts";
import { authorityFindings } from "./authority_findings.ts";
import { beginAuthority } from "./begun_authority.ts";
import type { Configuration } from "./configuration.ts";
import { ConfigurationViews } from "./configuration_view.ts";
import { debugQuestions } from "./debug_questions.ts";
import { debugView } from "./debug_view.ts";
import { scrapeMetrics } from "./measure.ts";
import { startMeshRoots } from "./mesh_roots.ts";
import { type MeshSource, startMeshSource } from "./mesh_source.ts";
import { startCredentials } from "./credentials/start.ts";
import { newXdsServer, type WireOptions } from "./new_xds_server.ts";
import { meshMaps } from "./orch/mesh_maps.ts";
import { queueMetrics, type ServerDuties, startDuties } from "./orch/duties.ts";
import { orchClient, type OrchOptions } from "./orch/orchestrator.ts";
import { newGatewayNames, newPipeline, type PipelineParts } from "./new_pipeline.ts";
import type { Pipeline } from "./pipeline.ts";
import { type IntrospectionOptions, openPorts, type ServerPorts } from "./ports.ts";
import { withLaterFaults } from "./later_faults.ts";
import { type DiscoverySettings, sharingGroups } from "./settings.ts";
import { NodeReader } from "./node_reader.ts";
import { startServices } from "./services.ts";
import { PipelineSource } from "./source.ts";
import { startRegistration } from "./registration/start.ts";
import { startAnalysis } from "./start_analysis.ts";
import { startConfiguration } from "./start_configuration.ts";
import { newCallers } from "./callers.ts";
import { pageAudience } from "./page_callers.ts";
import { type ServerTlsOptions, startServerTls } from "./secure_port.ts";
import { type MeshFileOption, StartError } from "./start_error.ts";
import { reportStart } from "./start_report.ts";
import { ServerTokenKeys } from "./server_token_keys.ts";
import { startTidyUp } from "./tidy_up.ts";
import { startUpkeep } from "./upkeep.ts";
import { startWebhooks } from "./webhooks.ts";

/** How a server is started. Addresses are `host:port` or `:port`; durations milliseconds. */
export interface DiscoveryServerOptions extends WireOptions {
  /** Undefined: gRPC shares `http`. */
  readonly grpc: string | undefined;
  /** Discovery over TLS; served when there is a certificate. Default: none. */
  readonly secureGrpc?: string | undefined;
  /** TLS of this server. Default: no certificate. */
  readonly tls?: ServerTlsOptions;
  readonly http: string;
  /** Webhooks over TLS; empty: on `http`. Default: there are none. */
  readonly webhooks?: string | undefined;
  /** Undefined: metrics are served on `http`. */
  readonly monitoring: string | undefined;
  /** Absent: no introspection pages. */
  readonly introspection?: IntrospectionOptions;
  /** Profiles of the process are served under `/debug/pprof`. Default: they are not. */
  readonly profiling?: boolean;
  /** Folder of configuration; undefined: none. */
  readonly configDir: string | undefined;
  /** The orchestrator whose objects are read. Default: none. */
  readonly orch?: OrchOptions | undefined;
  readonly meshConfig: string;
  readonly networksConfig: string;
  /** Those of the two files that must exist at the start. Default: neither, an absent one means the defaults. */
  readonly mustExist?: readonly MeshFileOption[];
  readonly domain: string;
  readonly clusterId: string;
  readonly clusterAliases: Readonly<Record<string, string>>;
  readonly systemNamespace: string;
  /** Namespace of the node plugin. Default: that of the server. */
  readonly cniNamespace?: string;
  /** Namespace of the secrets that describe remote clusters. Default: that of the server. */
  readonly clusterRegistriesNamespace?: string;
  /** Access to the API that has those secrets. Default: that of the orchestrator. */
  readonly clusterSecrets?: AccessPlace | undefined;
  readonly registries: readonly Registry[];
  /** Services of manifests in the folders are part of the mesh (`--registries=File`). Default false. */
  readonly manifestServices?: boolean;
  /** Values of variables of this process, which headers of providers name (`envName`). Default: there are none. */
  readonly variable?: (name: string) => string | undefined;
  /** Derivations of objects from objects and facts, in order of precedence. Default: none. */
  readonly derivations?: readonly Derivation[];
  /** Explains requests of connected proxies. Default: nothing does. */
  readonly explainer?: Explainer;
  /** Answers previews. Default: there are none. */
  readonly preview?: PreviewRunner;
}

/** A running server. */
export interface DiscoveryServer {
  readonly pipeline: Pipeline;
  readonly xds: XdsServer;
  readonly store: ConfigStore;
  /** Its sources, facts and derivations. */
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
 * Starts a server. It registers its parts with the kernel's stopper and its steps with the kernel's readiness.
 *
 * @returns When sources are synced and it listens.
 * @throws {StartError} When a source cannot be read, the mesh configuration has errors, or a port cannot be used: all of
 * these at once.
 */
export async function startDiscoveryServer(
  options: DiscoveryServerOptions,
  settings: DiscoverySettings,
  kernel: Kernel,
): Promise<DiscoveryServer> {
  try {
    return await start(options, settings, kernel);
  } catch (error) {
    throw error instanceof StartError ? await withLaterFaults(error, options) : error;
  }
}

async function start(
  options: DiscoveryServerOptions,
  settings: DiscoverySettings,
  kernel: Kernel,
): Promise<DiscoveryServer> {
  const synced = kernel.readiness.task("sources synced");
  const listening = kernel.readiness.task("listening");
  kernel.readiness.complete();
  const orch = options.orch && orchClient(options.orch, kernel);
  const mesh = await startMesh(options, settings, orch, kernel);

  const { nodes, tokenKeys, gatewayNames, pipeline } = startPipeline(options, settings, mesh, kernel);
  await startRegistries(options, pipeline, kernel);
  const services = startServices(orch, options, settings, { pipeline, mesh }, kernel);
  const begun = beginAuthority(options, settings, { mesh, services, orch }, kernel);
  const { authentication } = begun;
  const read = await startConfiguration(options, settings, { orch, mesh, pipeline, services }, kernel);
  const { configuration, configuration: { store, facts } } = read;
  begun.hasRead(facts);
  await tokenKeys.follow(store, pipeline);
  await gatewayNames?.settled();
  await pipeline.start();
  const served = Promise.withResolvers<void>();
  const known = { domainSuffix: options.domain, assumeServices: false, whole: orch !== undefined };
  const analysis = startAnalysis(known, { pipeline, configuration, services }, served.promise, kernel);
  const callers = newCallers(authentication, settings, kernel);
  const credentials = startCredentials(pipeline.table, facts, kernel, orch, services.remote);
  const changed = () => pipeline.lookAgain("global");
  const roots = startMeshRoots({ mesh, table: pipeline.table, changed }, settings, kernel);
  const keeper = orch && startEntryHealth({ client: orch, configuration }, settings, kernel);
  const health = startHealthReports(pipeline.entries, settings, kernel, keeper);
  const maxConnectionAge = options.keepaliveMaxServerConnectionAge;
  const registration = { store, client: orch, maxConnectionAge, queueMetrics: queueMetrics(settings, kernel) };
  const registrar = startRegistration(registration, settings, kernel);
  const views = new ConfigurationViews({ store, callers, kernel, systemNamespace: options.systemNamespace });
  const resources = new PipelineSource(pipeline, nodes, callers, credentials, roots, health, registrar, views);
  resources.ready = true;
  synced();

  const authority = await begun.started;
  const questions = settings.ENABLE_DEBUG_ON_HTTP
    ? debugQuestions(options.systemNamespace, { callers, nodes, pipeline, view: () => view })
    : undefined;
  const xds = newXdsServer(options, settings, kernel, pipeline, resources, { ...authority, questions });
  const measured = { caches: settings.PILOT_XDS_CACHE_STATS, patches: settings.PILOT_PROXY_FILTER_STATS };
  scrapeMetrics(kernel.metrics, pipeline, measured, () => analysis.findings());
  startUpkeep(pipeline, kernel, () => analysis.findings());
  const tls = await startServerTls(options.tls, settings, { ...authority, meshRoots: roots }, kernel);
  const parts = { ...options, configuration, mesh, client: orch };
  const { injection, webhookTls, webhookRoots } = startWebhooks(parts, tls, settings, kernel);
  let duties: ServerDuties = { states: () => [] };
  const view: DebugView = debugView({
    ...{ pipeline, xds, mesh, configuration, analysis, kernel, domain: options.domain, asked: options },
    lists: {
      ...{ leaders: () => duties.states(), injection: injection?.view },
      ...{ clusters: () => services.clusters(), shared: () => services.shared() },
      findings: () => [
        ...[mesh, ...read.parts].flatMap((part) => [...part.findings()]),
        ...authorityFindings(authority.authority),
      ],
    },
  });
  const ports = await openPorts(options, settings, {
    ...{ kernel, xds, view, tls, webhookTls, injector: injection?.injector },
    audience: pageAudience(authentication.forPages(), options.systemNamespace),
  });
  listening();
  served.resolve();
  measureStart(kernel);
  const bundles = { roots: joinedIfAny([authority.authority?.roots, tls?.serverRoots]), webhookRoots };
  const worked = { configuration, mesh, pipeline, analysis, xds, remote: services.remote, ...bundles };
  duties = startDuties(orch, { ...worked, ...options, sharing: sharingGroups(settings) }, settings, kernel);
  reportStart({
    ...{ options, ports, store, debug: settings.ENABLE_DEBUG_ON_HTTP },
    settled: () => analysis.analyzed(),
    findings: () => [...view.findings(), ...analysis.findings()],
  }, kernel);
  tidyUpLater(pipeline, analysis, kernel);
  return { pipeline, xds, store, configuration, mesh, analysis, findings: view.findings, ports };
}

/** The pipeline, which follows the mesh configuration, and its parts. */
function startPipeline(
  options: DiscoveryServerOptions,
  settings: DiscoverySettings,
  mesh: MeshSource,
  kernel: Kernel,
): PipelineParts & { readonly pipeline: Pipeline } {
  const nodes = new NodeReader({ ...options, vhds: settings.PILOT_ENABLE_VHDS });
  const tokenKeys = new ServerTokenKeys(settings, kernel);
  const parts = { mesh, nodes, tokenKeys, gatewayNames: newGatewayNames(settings, kernel) };
  const pipeline = newPipeline(options, settings, kernel, parts);
  kernel.stopper.add("pipeline", () => pipeline.stop());
  mesh.onChange((state) => pipeline.meshChanged(state.mesh, state.networks));
  return { ...parts, pipeline };
}

function measureStart({ metrics, clock }: Kernel): void {
  metrics.gauge("startup_duration_seconds").set(clock.monotonic() / 1000);
  metrics.gauge("meshd_managed_clusters").set({ cluster_type: "local" }, 1);
}

function tidyUpLater(pipeline: Pipeline, analysis: AnalysisRunner, kernel: Kernel): void {
  const isBusy = () => kernel.drain.started || pipeline.translator.counts.proxies > 0;
  const giveBack = () => giveMemoryBack(Deno.memoryUsage().heapTotal);
  startTidyUp({ done: () => analysis.analyzed(), isBusy, giveBack }, kernel);
}

/** Mesh configuration and networks, of files or of config maps. */
async function startMesh(
  options: DiscoveryServerOptions,
  settings: DiscoverySettings,
  orch: ApiClient | undefined,
  kernel: Kernel,
): Promise<MeshSource> {
  const { systemNamespace } = options;
  const maps = { namespace: systemNamespace, revision: settings.REVISION, shared: settings.SHARED_MESH_CONFIG };
  const mesh = await startMeshSource({
    meshFile: options.meshConfig,
    networksFile: options.networksConfig,
    mustExist: options.mustExist ?? [],
    systemNamespace,
    variable: options.variable,
    // With an orchestrator remote clusters may have registries of other names.
    ...(orch === undefined ? { clusterId: options.clusterId } : {}),
    ...(orch === undefined ? {} : { texts: meshMaps(orch, maps, kernel) }),
  }, kernel);
  kernel.stopper.add("mesh configuration", () => mesh.stop());
  return mesh;
}

async function startRegistries(
  { registries }: DiscoveryServerOptions,
  pipeline: Pipeline,
  kernel: Kernel,
): Promise<void> {
  for (const registry of registries) {
    await pipeline.addRegistry(registry);
    kernel.stopper.add(`registry ${registry.provider}/${registry.clusterId}`, () => registry.stop());
  }
}
