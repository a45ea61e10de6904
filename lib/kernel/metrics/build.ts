/**
 * Build metrics, which every process has.
 *
 * @module
 */
import { type BuildInfo, buildInfo } from "../program/build_info.ts";
import type { Program } from "../program/program.ts";
import type { Metrics } from "./registry.ts";

/** Values of the label `component`, by program: the names in dashboards made for Istio. */
const components: Readonly<Record<Program, string>> = {
  "pilot-discovery": "pilot",
  "pilot-agent": "proxy",
  "install-cni": "cni",
};

/** Sets `mesh_build`, and for the server `pilot_info` and `meshd_uptime_seconds`. */
export function feedBuildMetrics(
  metrics: Metrics,
  program: Program,
  uptimeSeconds: () => number,
  info: BuildInfo = buildInfo(),
): void {
  metrics.gauge("mesh_build").set({ component: components[program], tag: info.tag }, 1);
  metrics.gauge("pilot_info").set({ version: `${info.version}-${info.revision}-${info.status}` }, 1);
  metrics.onScrape(() => metrics.gauge("meshd_uptime_seconds").set(uptimeSeconds()));
}
