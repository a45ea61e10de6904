/**
 * The parts of a discovery server in the order of their start, each with the reason for its place.
 *
 * A row of the list names a part, its needs, the reason for its place, and how the part starts and ends. The module
 * that the start calls does the work of the part.
 *
 * Permissions: the permissions of the started modules.
 *
 * @module
 */
import type { Kernel } from "../kernel/kernel.ts";
import { PartList } from "../kernel/lifecycle/parts.ts";
import { compactLargeHeap } from "../kernel/program/memory.ts";
import { ambientStatusDuties } from "./ambient_status/start.ts";
import { startTunnelResources } from "./ambient/start.ts";
import { TunnelViews } from "./ambient/tunnel_views.ts";
import { ServerAuthentication } from "./identity/authentication.ts";
import { startServerAuthority } from "./identity/authority.ts";
import { knownCertificates } from "./identity/known_certificates.ts";
import { authorityFindings } from "./identity/authority_findings.ts";
import { newCallers } from "./identity/callers.ts";
import { tokenReviewer } from "./clusters/askers.ts";
import { ConfigurationViews } from "./other_clients/configuration_view.ts";
import { startCalls } from "./calls/start.ts";
import { startCredentials } from "./credentials/start.ts";
import { debugQuestions } from "./other_clients/debug_questions.ts";
import { debugView, newTrafficSource, trafficFaults } from "./debug_view.ts";
import { startHealthReports } from "./registration/health_reports.ts";
import { deploysGateways, startGateways } from "./gateways/start.ts";
import { DeployedGateways } from "./gateways/states.ts";
import { joinedIfAny } from "./identity/joined_roots.ts";
import { scrapeMetrics } from "./measure.ts";
import { startMeshRoots } from "./identity/mesh_roots.ts";
import { startServerMesh } from "./sources/mesh_source.ts";
import { startFirstLook } from "./first_look.ts";
import { newGatewayNames, newPipeline } from "./new_pipeline.ts";
import { newXdsServer } from "./new_xds_server.ts";
import { NodeReader } from "./pipeline/node_reader.ts";
import { queueMetrics, startDuties } from "./duties/duties.ts";
import { DutyLocks } from "./duties/duty_locks.ts";
import { orchClient } from "./sources/orchestrator.ts";
import { pageAudience } from "./other_clients/page_callers.ts";
import { freePortFaults, openPorts } from "./ports.ts";
import { startEntryHealth } from "./registration/entry_health.ts";
import { startRegistration } from "./registration/start.ts";
import { startServerTls } from "./identity/secure_port.ts";
import type { DiscoveryServerOptions } from "./server_options.ts";
import { driveRollouts, readRollouts } from "./rollout/start.ts";
import { ServerTokenKeys } from "./lookups/server_token_keys.ts";
import { startServices } from "./clusters/services.ts";
import { type DiscoverySettings, sharingGroups } from "./settings/settings.ts";
import { PipelineSource } from "./proxies/source.ts";
import { startAnalysis } from "./findings/start_analysis.ts";
import { folderFaults, newConfiguration, startSources } from "./start_configuration.ts";
import { startUpkeep } from "./upkeep.ts";
import { startWebhooks } from "./injector/webhooks.ts";

/** Given to every part. */
export interface ServerGiven {
  readonly options: DiscoveryServerOptions;
  readonly settings: DiscoverySettings;
  readonly kernel: Kernel;
}

export const SERVER_PARTS = PartList.of<ServerGiven>()
  .add({
    name: "orchestrator",
    needs: [],
    why: "first: most parts use the API. Making the client sends no request.",
    start: ({ options, kernel }) => options.orch && orchClient(options.orch, kernel),
  })
  .add({
    name: "mesh",
    needs: ["orchestrator"],
    why: "before the pipeline: the trust domain, the networks and all defaults are in the mesh configuration.",
    start: ({ options, settings, kernel, orchestrator }) => startServerMesh(options, settings, orchestrator, kernel),
    stop: (mesh) => mesh.stop(),
  })
  .add({
    name: "nodes",
    needs: [],
    why: "before the pipeline: the pipeline reads the nodes of proxies again when the mesh configuration changes.",
    start: ({ options, settings }) =>
      new NodeReader({
        ...options,
        vhds: settings.PILOT_ENABLE_VHDS,
        waypoints: settings.PILOT_ENABLE_AMBIENT_WAYPOINTS,
      }),
  })
  .add({
    name: "tokenKeys",
    needs: [],
    why: "before the pipeline: filters for tokens hold the keys of issuers.",
    start: ({ settings, kernel }) => new ServerTokenKeys(settings, kernel),
  })
  .add({
    name: "gatewayNames",
    needs: [],
    why: "before the pipeline: gateways of other networks may have host names, and the pipeline needs their addresses.",
    start: ({ settings, kernel }) => newGatewayNames(settings, kernel),
    stop: (names) => names?.stop(),
  })
  .add({
    name: "keptRollouts",
    needs: ["orchestrator"],
    why: "before the pipeline: after a restart objects go to the proxies that had them before.",
    start: ({ options, settings, kernel, orchestrator }) => readRollouts(options, orchestrator, settings, kernel),
  })
  .add({
    name: "pipeline",
    needs: ["mesh", "nodes", "tokenKeys", "gatewayNames", "keptRollouts"],
    why: "before every source: sources hand their changes to the pipeline.",
    start: ({ options, settings, kernel, mesh, nodes, tokenKeys, gatewayNames, keptRollouts }) => {
      const staged = keptRollouts?.staged;
      const pipeline = newPipeline(options, settings, kernel, { mesh, nodes, tokenKeys, gatewayNames, staged });
      mesh.onChange((state) => pipeline.meshChanged(state.mesh, state.networks));
      return pipeline;
    },
    stop: (pipeline) => pipeline.stop(),
  })
  .add({
    name: "registries",
    needs: ["pipeline"],
    why: "before sources: running services are known before the first rule about them.",
    start: async ({ options: { registries }, kernel, pipeline }) => {
      for (const registry of registries) {
        await pipeline.addRegistry(registry);
        // Each registry registers its own end: when a registry does not start, the registries before it must still be
        // ended.
        kernel.stopper.add(`registry ${registry.provider}/${registry.clusterId}`, () => registry.stop());
      }
    },
  })
  .add({
    name: "services",
    needs: ["orchestrator", "mesh", "pipeline"],
    why: "before the configuration: facts become services while they are read. Remote clusters begin here.",
    start: ({ options, settings, kernel, orchestrator, mesh, pipeline }) =>
      startServices(orchestrator, options, settings, { pipeline, mesh }, kernel),
  })
  .add({
    name: "configuration",
    needs: ["mesh", "pipeline", "services"],
    why: "the empty stores: parts that look objects up are made before the first object is read.",
    start: ({ options, settings, kernel, mesh, pipeline, services }) =>
      newConfiguration(options, settings, { mesh, pipeline, services }, kernel),
    stop: (configuration) => configuration.stop(),
  })
  .add({
    name: "authentication",
    needs: ["orchestrator", "mesh", "services"],
    why: "before the authority: authentication decides who may have a certificate.",
    start: ({ options, settings, kernel, orchestrator, mesh, services }) => {
      const reviewer = orchestrator && tokenReviewer(orchestrator, options, services.remote?.clusters);
      return new ServerAuthentication(settings, mesh, kernel, reviewer);
    },
  })
  .add({
    name: "authority",
    needs: ["orchestrator", "mesh", "services", "configuration", "authentication"],
    why: "while sources are read: another core makes the key of a new root, and this core reads objects.",
    beside: true,
    start: ({ options, settings, kernel, orchestrator: orch, mesh, services, configuration, authentication }) => {
      const facts = function* () {
        yield configuration.facts;
        yield* services.remote?.clusters.facts() ?? [];
      };
      return startServerAuthority(options, settings, { mesh, facts, authentication, orch }, kernel);
    },
  })
  .add({
    name: "sources",
    needs: ["orchestrator", "mesh", "services", "configuration"],
    why: "the longest step: folders, the orchestrator and other control planes are read once, and then followed.",
    start: ({ options, settings, kernel, orchestrator: orch, mesh, services, configuration }) =>
      startSources(options, settings, { orch, mesh, services, configuration }, kernel),
    faults: ({ options }) => folderFaults(options.configDir),
  })
  .add({
    name: "translation",
    needs: ["tokenKeys", "gatewayNames", "keptRollouts", "pipeline", "configuration", "sources"],
    why:
      "after all sources: the first translation needs the whole mesh, the keys of issuers and the gateways' addresses.",
    ready: "sources synced",
    start: async ({ pipeline, configuration, tokenKeys, gatewayNames, keptRollouts }) => {
      await tokenKeys.follow(configuration.store, pipeline);
      await gatewayNames?.settled();
      await pipeline.start();
      keptRollouts?.staged.seal();
    },
  })
  .add({
    name: "analysis",
    needs: ["orchestrator", "pipeline", "configuration", "services", "translation"],
    why: "after the first translation, which gives the analysis the whole mesh. The first analysis comes last.",
    start: ({ options, settings, kernel, orchestrator, pipeline, configuration, services }) => {
      const isFolder = options.orch?.services !== true;
      const from = { domain: options.domain, isWhole: orchestrator !== undefined, isFolder };
      return startAnalysis(from, settings, { pipeline, configuration, services }, kernel);
    },
  })
  .add({
    name: "callers",
    needs: ["authentication"],
    why: "before the resources: the identity of a client decides its resources.",
    start: ({ settings, kernel, authentication }) => newCallers(authentication, settings, kernel),
  })
  .add({
    name: "credentials",
    needs: ["orchestrator", "pipeline", "configuration", "services"],
    why: "before the resources: proxies get the secrets named by configuration together with their resources.",
    start: ({ kernel, orchestrator, pipeline, configuration, services }) =>
      startCredentials(pipeline.table, configuration, kernel, orchestrator, services.remote),
  })
  .add({
    name: "meshRoots",
    needs: ["mesh", "pipeline"],
    why: "before the resources: agents are sent the roots of the mesh.",
    start: ({ settings, kernel, mesh, pipeline }) => {
      const changed = () => pipeline.lookAgain("global");
      return startMeshRoots({ mesh, table: pipeline.table, changed }, settings, kernel);
    },
  })
  .add({
    name: "health",
    needs: ["orchestrator", "pipeline", "configuration"],
    why: "before the resources: agents report the health of their workloads on the stream of their resources.",
    start: ({ settings, kernel, orchestrator, pipeline, configuration }) => {
      const keeper = orchestrator && startEntryHealth({ client: orchestrator, configuration }, settings, kernel);
      return startHealthReports(pipeline.entries, settings, kernel, keeper);
    },
  })
  .add({
    name: "registration",
    needs: ["orchestrator", "configuration"],
    why: "before the resources: a self-registering workload needs its entry before its proxy gets resources.",
    start: ({ options, settings, kernel, orchestrator: client, configuration: { store } }) => {
      const maxConnectionAge = options.keepaliveMaxServerConnectionAge;
      const parts = { store, client, maxConnectionAge, queueMetrics: queueMetrics(settings, kernel) };
      return startRegistration(parts, settings, kernel);
    },
  })
  .add({
    name: "calls",
    needs: ["orchestrator"],
    why: "before the resources: a sidecar that asks first gets what its workload has called.",
    start: ({ options: { systemNamespace }, settings, kernel, orchestrator: client }) =>
      startCalls({ client, systemNamespace }, settings, kernel),
  })
  .add({
    name: "tunnels",
    needs: ["mesh", "pipeline", "configuration", "services", "sources", "translation"],
    why: "before the resources: node tunnels get the addresses of the whole mesh, made from everything that was read.",
    start: ({ options, settings, kernel, pipeline, configuration, mesh, services: { remote } }) =>
      startTunnelResources(options, settings, { pipeline, configuration, mesh, remote }, kernel),
  })
  .add({
    name: "resources",
    needs: [
      "tunnels",
      "pipeline",
      "nodes",
      "callers",
      "credentials",
      "meshRoots",
      "health",
      "registration",
      "calls",
      "configuration",
      "translation",
    ],
    why: "before the wire: one interface gives the wire everything that clients may get.",
    start: ({ options: { systemNamespace, clusterId }, kernel, ...parts }) => {
      const { pipeline, nodes, callers, credentials, meshRoots: roots, health, registration: entries, calls } = parts;
      const views = new ConfigurationViews({ store: parts.configuration.store, callers, kernel, systemNamespace });
      const tunnels = parts.tunnels && new TunnelViews({ resources: parts.tunnels, callers, clusterId });
      return new PipelineSource(pipeline, nodes, callers, credentials, roots, health, entries, views, tunnels, calls);
    },
  })
  .add({
    name: "wire",
    needs: ["pipeline", "resources", "authority"],
    why:
      "after the resources and the authority, because the wire serves both. The wire listens when the ports are opened.",
    start: ({ options, settings, kernel, pipeline, resources, authority: { services } }) =>
      newXdsServer(options, settings, kernel, pipeline, resources, services),
  })
  .add({
    name: "rollouts",
    needs: ["keptRollouts", "pipeline", "wire"],
    why: "after the wire, whose acknowledgements decide about the stages.",
    start: ({ settings, kernel, keptRollouts, pipeline, wire: xds }) => {
      if (keptRollouts === undefined) return undefined;
      return driveRollouts(keptRollouts, { pipeline, xds, traffic: newTrafficSource(settings, kernel) }, kernel);
    },
  })
  .add({
    name: "measurements",
    needs: ["pipeline", "analysis"],
    why: "after the measured parts, and before the port of the metrics.",
    start: ({ settings, kernel, pipeline, analysis }) => {
      const measured = { caches: settings.PILOT_XDS_CACHE_STATS, patches: settings.PILOT_PROXY_FILTER_STATS };
      scrapeMetrics(kernel.metrics, pipeline, measured, () => analysis.findings());
      startUpkeep(pipeline, kernel, () => analysis.findings());
    },
  })
  .add({
    name: "certificate",
    needs: ["authority", "meshRoots"],
    why: "after the authority, which may sign the server's own certificate.",
    start: ({ options, settings, kernel, authority, meshRoots }) =>
      startServerTls(options.tls, settings, { ...authority, meshRoots }, kernel),
  })
  .add({
    name: "webhooks",
    needs: ["orchestrator", "mesh", "configuration", "certificate"],
    why: "after the certificate, which the webhooks show to the API.",
    start: ({ options, settings, kernel, orchestrator: client, mesh, configuration, certificate }) =>
      startWebhooks(
        { ...options, configuration, mesh, client, needsPodSettings: deploysGateways(options.orch, settings) },
        certificate,
        settings,
        kernel,
      ),
  })
  .add({
    name: "locks",
    needs: [],
    why: "before the pages, which show the locks. The duties take the locks when the server serves.",
    start: () => new DutyLocks(),
  })
  .add({
    name: "gateways",
    needs: [],
    why: "before the pages, which show the managed Gateways. The duty deploys the Gateways when the server serves.",
    start: () => new DeployedGateways(),
  })
  .add({
    name: "pages",
    needs: [
      "pipeline",
      "wire",
      "mesh",
      "configuration",
      "sources",
      "analysis",
      "authority",
      "certificate",
      "services",
      "webhooks",
      "locks",
      "gateways",
      "tunnels",
      "rollouts",
      "calls",
    ],
    why: "after all parts that the pages show.",
    start: ({ options, settings, kernel, pipeline, wire: xds, mesh, configuration, analysis, ...shown }) => {
      const { services, webhooks: { injection }, locks, gateways, sources, tunnels, authority: { authority } } = shown;
      const { certificate: { identity, serverRoots } = {}, calls, rollouts } = shown;
      const certificates = knownCertificates({ authority, identity, roots: serverRoots ? [serverRoots] : [] });
      return debugView({
        ...{ pipeline, xds, mesh, configuration, analysis, kernel, domain: options.domain, asked: options },
        lists: {
          ...{ leaders: () => locks.states(), injection: injection?.view },
          ...{ deployments: () => gateways.all(), tunnels, certificates, rollouts: () => rollouts?.progress() ?? [] },
          calls: () => calls?.workloads(),
          ...{ clusters: () => services.clusters(), shared: () => services.shared() },
          traffic: newTrafficSource(settings, kernel),
          findings: () => [
            ...[mesh, configuration, ...sources].flatMap((part) => [...part.findings()]),
            ...authorityFindings(authority),
          ],
        },
      });
    },
    faults: ({ settings }) => Promise.resolve(trafficFaults(settings)),
  })
  .add({
    name: "questions",
    needs: ["nodes", "pipeline", "callers", "wire", "pages"],
    why: "after the pages: a page answers each question on a stream.",
    start: ({ options, settings, nodes, pipeline, callers, wire, pages: view }) => {
      if (!settings.ENABLE_DEBUG_ON_HTTP) return;
      wire.answerQuestions(debugQuestions(options.systemNamespace, { callers, nodes, pipeline, view }));
    },
  })
  .add({
    name: "readHeap",
    needs: ["pipeline", "configuration", "questions"],
    why: "before the ports: nobody waits for the collection of a heap that is too large for a collection in service.",
    start: () => compactLargeHeap(Deno.memoryUsage().heapTotal),
  })
  .add({
    name: "ports",
    needs: ["authentication", "wire", "certificate", "webhooks", "pages", "questions", "readHeap"],
    why: "after everything that is served: a client that connects finds a complete server.",
    ready: "listening",
    start: ({ options, settings, kernel, authentication, wire: xds, certificate: tls, webhooks, pages: view }) =>
      openPorts(options, settings, {
        ...{ kernel, xds, view, tls, webhookTls: webhooks.webhookTls, injector: webhooks.injection?.injector },
        audience: pageAudience(authentication.forPages(), options.systemNamespace),
      }),
    faults: ({ options }) => freePortFaults(options),
  })
  .add({
    name: "duties",
    needs: [
      "orchestrator",
      "mesh",
      "pipeline",
      "services",
      "configuration",
      "authority",
      "analysis",
      "wire",
      "certificate",
      "webhooks",
      "locks",
      "gateways",
      "keptRollouts",
      "rollouts",
      "ports",
    ],
    why: "after the ports: only a server that serves may lead.",
    start: ({ options, settings, kernel, orchestrator, ...parts }) => {
      const { configuration, mesh, pipeline, analysis, wire: xds, services: { remote }, locks } = parts;
      const roots = joinedIfAny([parts.authority.authority?.roots, parts.certificate?.serverRoots]);
      const { webhooks: { webhookRoots, pods }, gateways: states } = parts;
      const worked = { configuration, mesh, pipeline, analysis, xds, remote, roots, webhookRoots };
      const asked = { ...options, client: orchestrator, configuration };
      const gateways = startGateways({ ...asked, pods, states }, settings, kernel);
      const tunnels = ambientStatusDuties({ ...asked, mesh: () => pipeline.mesh }, settings, kernel);
      const others = [...gateways, ...tunnels, ...parts.keptRollouts?.duties ?? []];
      const given = { ...options, ...worked, sharing: sharingGroups(settings), others };
      locks.follow(startDuties(orchestrator, given, settings, kernel));
    },
  })
  .add({
    name: "firstLook",
    needs: ["pipeline", "configuration", "analysis", "pages", "ports", "wire"],
    why:
      "last: clients do not wait for the analysis. After the analysis, the log counts the findings, and memory is given back.",
    start: ({ options, settings, kernel, ...parts }) => startFirstLook(options, settings, parts, kernel),
  });
