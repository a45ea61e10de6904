/**
 * The analysis of a running server: its own configuration and objects, and the secrets of remote clusters.
 *
 * Permissions: the permissions of {@linkcode AnalysisRunner}.
 *
 * @module
 */
import type { AnalysisSettings } from "../../analyze/reader/source.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { AnalysisRunner } from "./analysis_runner.ts";
import { refusedKeys } from "../../config/refused/refused_keys.ts";
import type { Configuration } from "../sources/configuration.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import type { ServerServices } from "../clusters/services.ts";

interface AnalyzedParts {
  readonly pipeline: Pipeline;
  readonly configuration: Configuration;
  readonly services: Pick<ServerServices, "remote">;
}

/**
 * The analysis, until the kernel stops. The first look waits for {@linkcode AnalysisRunner.begin}.
 *
 * @param settings With `whole`: an orchestrator's API tells everything that exists.
 */
export function startAnalysis(
  settings: AnalysisSettings,
  { pipeline, configuration, services: { remote } }: AnalyzedParts,
  kernel: Pick<Kernel, "log" | "metrics" | "clock" | "stopper">,
): AnalysisRunner {
  const { store, facts } = configuration;
  const analysis = new AnalysisRunner(
    pipeline,
    {
      ...{ store, facts, settings, texts: configuration },
      remoteFacts: () => remote?.clusters.factsByCluster() ?? new Map(),
    },
    () => refusedKeys(configuration),
    kernel,
  );
  remote?.onFacts((changes) => analysis.remoteChanged(changes));
  kernel.stopper.add("analysis", () => analysis.stop());
  return analysis;
}
