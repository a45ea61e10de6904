/**
 * The view of the debug pages on the parts of a server.
 *
 * @module
 */
import type { Explainer, PreviewRunner } from "../debug/runners.ts";
import type { DebugView } from "../debug/view.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { buildInfo } from "../kernel/program/build_info.ts";
import type { XdsServer } from "../xds/server.ts";
import type { AnalysisRunner } from "./findings/analysis_runner.ts";
import type { Configuration } from "./sources/configuration.ts";
import type { MeshSource } from "./sources/mesh_source.ts";
import type { Pipeline } from "./pipeline/pipeline.ts";

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
    readonly lists: Pick<DebugView, "leaders" | "clusters" | "shared" | "injection" | "findings">;
    /** DNS suffix of services. */
    readonly domain: string;
    readonly kernel: Pick<Kernel, "program" | "log" | "readiness">;
  },
): DebugView {
  return {
    program: `${kernel.program} ${buildInfo().version}`,
    domain,
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
