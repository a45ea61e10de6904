/**
 * All scenarios, with Istio's figures and the targets.
 *
 * @module
 */
import { ambient } from "./ambient.ts";
import { analyses } from "./analysis.ts";
import { certificates } from "./certificates.ts";
import { envoyMemory } from "./envoy_memory.ts";
import { events } from "./events.ts";
import { extended } from "./extended.ts";
import { firstRequestRows } from "./first_requests.ts";
import { gatewayRoutes, gatewayStatus } from "./gateway_routes.ts";
import { injection } from "./injection.ts";
import { pages } from "./pages.ts";
import { proxyMetrics } from "./proxy_metrics.ts";
import { many } from "./many.ts";
import { asking } from "./on_demand.ts";
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
  asking(true),
  asking(false),
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
  many,
  meshEdits(USUAL, 400),
  meshEdits(LARGE, 40),
  start,
  ...idles,
  orchStart,
  orchEdits,
  gatewayRoutes(1000),
  gatewayRoutes(5000),
  gatewayStatus(1000),
  gatewayStatus(5000),
  ...analyses,
  events,
  ambient,
  pages,
  floods,
  subscriptions,
  injection,
  sidecar,
  proxyMetrics,
  envoyMemory,
  firstRequestRows,
];
