/**
 * The end of a start: the first analysis, the report of the start, the modules of pages, and memory given back.
 *
 * Permissions: sys (the memory of the own process, which needs no flag).
 *
 * @module
 */
import type { DebugView } from "../debug/view.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Logger } from "../kernel/log/log.ts";
import { giveMemoryBack } from "../kernel/program/memory.ts";
import type { PushLedger } from "../xds/ledger.ts";
import type { AnalysisRunner } from "./findings/analysis_runner.ts";
import type { Pipeline } from "./pipeline/pipeline.ts";
import type { DiscoverySettings } from "./settings/settings.ts";
import type { Configuration } from "./sources/configuration.ts";
import { loadPageModules } from "./ports.ts";
import { reportStart } from "./start_report.ts";
import { startTidyUp } from "./tidy_up.ts";

/** The parts of a started server. */
export interface FirstLookParts {
  readonly pipeline: Pipeline;
  readonly configuration: Configuration;
  readonly analysis: AnalysisRunner;
  readonly pages: DebugView;
  readonly ports: Parameters<typeof reportStart>[0]["ports"];
  readonly wire: { readonly ledger: Pick<PushLedger, "revision"> };
}

/** Begins the analysis, and reports the start when the analysis is done. */
export function startFirstLook(
  options: Parameters<typeof reportStart>[0]["options"],
  settings: Pick<DiscoverySettings, "ENABLE_DEBUG_ON_HTTP">,
  { pipeline, configuration: { store }, analysis, pages, ports, wire: { ledger } }: FirstLookParts,
  kernel: Pick<Kernel, "clock" | "drain" | "log" | "metrics" | "stopper">,
): void {
  analysis.begin();
  const { metrics, clock } = kernel;
  metrics.gauge("startup_duration_seconds").set(clock.monotonic() / 1000);
  metrics.gauge("meshd_managed_clusters").set({ cluster_type: "local" }, 1);
  reportStart({
    ...{ options, ports, store, debug: settings.ENABLE_DEBUG_ON_HTTP },
    settled: () => analysis.analyzed(),
    findings: () => [...pages.findings(), ...analysis.findings()],
  }, kernel);
  const isBusy = () => kernel.drain.started || pipeline.translator.counts.proxies > 0;
  const giveBack = () => giveMemoryBack(Deno.memoryUsage().heapTotal);
  const activity = () => ledger.revision;
  const load = () => settings.ENABLE_DEBUG_ON_HTTP ? loadPagesEarly(kernel.log.scope("monitor")) : Promise.resolve();
  startTidyUp({ done: () => analysis.analyzed(), isBusy, giveBack, activity, load }, kernel);
}

/** Loads the modules of pages before anybody asks for a page. A failure costs nothing: the first request loads again. */
async function loadPagesEarly(log: Logger): Promise<void> {
  try {
    await loadPageModules();
    log.debug("the modules of pages are loaded");
  } catch (error) {
    log.warn("the modules of pages cannot be loaded; the first request for a page tries again", { error });
  }
}
