/**
 * All scenarios, with Istio's figures and the targets.
 *
 * @module
 */
import { analyses } from "./analysis.ts";
import { certificates } from "./certificates.ts";
import { envoyMemory } from "./envoy_memory.ts";
import { events } from "./events.ts";
import { extended } from "./extended.ts";
import { injection } from "./injection.ts";
import { pages } from "./pages.ts";
import { proxyMetrics } from "./proxy_metrics.ts";
import { orchEdits, orchStart } from "./orchestrator.ts";
import { agents, hundred, large, meshEdits, names, policies, storm } from "./proxies.ts";
import { LARGE, type Scenario, USUAL } from "./scenario.ts";
import { sidecar } from "./sidecar.ts";
import { idles, start } from "./start.ts";
import { floods, subscriptions } from "./wire.ts";

/** All scenarios, in the order of the table. */
export const SCENARIOS: readonly Scenario[] = [
  storm(true),
  storm(false),
  agents,
  ...certificates,
  policies,
  extended,
  names,
  hundred(false, true),
  hundred(false, false),
  hundred(true, true),
  hundred(true, false),
  large(true),
  large(false),
  meshEdits(USUAL, 400),
  meshEdits(LARGE, 40),
  start,
  ...idles,
  orchStart,
  orchEdits,
  ...analyses,
  events,
  pages,
  floods,
  subscriptions,
  injection,
  sidecar,
  proxyMetrics,
  envoyMemory,
];
