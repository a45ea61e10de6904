/**
 * The view of the debug pages on the parts of a server.
 *
 * Permissions: sys (the memory of the own process, which needs no flag), net (Prometheus, if the settings name one).
 *
 * @module
 */
import { getHeapStatistics } from "node:v8";
import type { Explainer, PreviewRunner } from "../debug/runners.ts";
import type { ClusterView, DebugView, MemoryView, SourceView } from "../debug/view.ts";
import { KeptGraphs } from "../graph/kept_graphs.ts";
import type { TrafficSource } from "../graph/traffic.ts";
import { BASE_ADDRESS, isBaseAddress, shownAddress } from "../kernel/fetch/web_address.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { buildInfo } from "../kernel/program/build_info.ts";
import { Prometheus } from "../prometheus/prometheus.ts";
import type { XdsServer } from "../xds/server.ts";
import type { AnalysisRunner } from "./findings/analysis_runner.ts";
import type { Configuration } from "./sources/configuration.ts";
import type { MeshSource } from "./sources/mesh_source.ts";
import type { Pipeline } from "./pipeline/pipeline.ts";
import type { DiscoverySettings } from "./settings/settings.ts";
import { StartError, type StartFault } from "./settings/start_error.ts";

/** Lists to which several parts of the server contribute. */
type DebugLists = Pick<
  DebugView,
  | (
    | "leaders"
    | "calls"
    | "clusters"
    | "deployments"
    | "rollouts"
    | "shared"
    | "injection"
    | "findings"
    | "tunnels"
    | "certificates"
  )
  | "traffic"
>;

/** The debug pages' view of a running server. */
export function debugView(
  { pipeline, xds, mesh, configuration, analysis, asked, lists, domain, kernel }: {
    readonly pipeline: Pipeline;
    readonly xds: XdsServer;
    readonly mesh: MeshSource;
    readonly configuration: Configuration;
    readonly analysis: AnalysisRunner;
    /** Answers previews and explanations. */
    readonly asked: { readonly preview?: PreviewRunner | undefined; readonly explainer?: Explainer | undefined };
    /** Lists to which several parts of the server contribute. */
    readonly lists: DebugLists;
    /** DNS suffix of services. */
    readonly domain: string;
    readonly kernel: Pick<Kernel, "program" | "log" | "readiness" | "clock">;
  },
): DebugView {
  const graphs = new KeptGraphs(() => ({
    mesh: pipeline.translator.mesh,
    gateways: configuration.store.list("Gateway"),
  }));
  pipeline.onPush(() => graphs.clear());
  return {
    program: `${kernel.program} ${buildInfo().version}`,
    domain,
    now: () => kernel.clock.now(),
    memory: processMemory,
    sources: () => [...configuration.sources(), ...lists.clusters().flatMap(clusterSource)],
    ready: () => kernel.readiness.ready(),
    store: configuration.store,
    facts: configuration.facts,
    xds,
    log: kernel.log,
    services: pipeline.aggregate,
    endpoints: pipeline.endpoints,
    get mesh() {
      return pipeline.mesh;
    },
    get entrances() {
      return pipeline.entrances;
    },
    get namedEntrances() {
      return pipeline.namedEntrances;
    },
    get networks() {
      return mesh.state.networks;
    },
    get translator() {
      return pipeline.translator;
    },
    *warnings() {
      for (const warning of pipeline.warnings()) yield analysis.placed(warning);
    },
    ...lists,
    graph: (opened) => graphs.of(opened),
    preview: asked.preview,
    explainer: asked.explainer,
    analysis: {
      findings: () => analysis.findings(),
      findingsOf: (key) => analysis.findingsOf(key),
      settled: () => analysis.settled(),
      get isBehind() {
        return analysis.isBehind;
      },
    },
    isStale: (object) => configuration.isStale(object),
    leftOut: (key) => configuration.leftOut(key),
    passedOver: () => configuration.passedOver(),
    settled: () => configuration.settled(),
    changedIn: (key) => pipeline.known.changedIn(key),
    isWaiting: (key) => pipeline.known.isWaiting(key),
    onPush: (listener) => pipeline.onPush(listener),
    pushAll: () => pipeline.pushAll(),
  };
}

/** A remote cluster as a source; the server's own cluster is a source of the configuration already. */
function clusterSource({ id, secretName, syncStatus, problem }: ClusterView): SourceView[] {
  if (secretName === undefined) return [];
  const why = problem ?? (syncStatus === "synced" ? undefined : `the cluster's state is ${syncStatus}`);
  return [{ sort: "cluster", name: id, problem: why }];
}

function processMemory(): MemoryView {
  const { rss, heapUsed } = Deno.memoryUsage();
  return { resident: rss, heapUsed, heapLimit: getHeapStatistics().heap_size_limit };
}

type TrafficSettings = Pick<DiscoverySettings, "MESH_PROMETHEUS_ADDRESS">;

/**
 * The source of measured traffic, a Prometheus; undefined: the settings name none.
 *
 * @throws {StartError} when the address is not the address of a server.
 */
export function newTrafficSource(
  settings: TrafficSettings,
  { clock, stopper }: Pick<Kernel, "clock" | "stopper">,
): TrafficSource | undefined {
  const faults = trafficFaults(settings);
  if (faults.length > 0) throw new StartError(faults);
  const address = settings.MESH_PROMETHEUS_ADDRESS;
  if (address === "") return undefined;
  const prometheus = new Prometheus(address, { clock });
  stopper.add("prometheus", () => prometheus.stop());
  return prometheus;
}

/** The faults of the address. */
export function trafficFaults({ MESH_PROMETHEUS_ADDRESS: address }: TrafficSettings): readonly StartFault[] {
  if (address === "" || isBaseAddress(address)) return [];
  const text = `got ${JSON.stringify(shownAddress(address))}, expected ${BASE_ADDRESS}`;
  return [{ option: "MESH_PROMETHEUS_ADDRESS", text }];
}
