/**
 * The agent's status port: readiness, drain, probes of the application, merged metrics, profiles.
 *
 * Permissions: net (the port, Envoy's admin page, the application); sys (inspector) for profiles.
 *
 * @module
 */
import { hostAndPort } from "../../kernel/text/host.ts";
import { HttpServer } from "../../http/server.ts";
import type { Log } from "../../kernel/log/log.ts";
import { buildInfo } from "../../kernel/program/build_info.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { familiesOf } from "../bootstrap/families.ts";
import type { AppProber } from "../../config/agent_texts/app_probers.ts";
import { requestTarget } from "../../kernel/text/request_target.ts";
import { metricsRoutes } from "../status/metrics_routes.ts";
import { probePages } from "../status/probe_routes.ts";
import { LOCAL_GUARDS, type StatusActions, statusRoutes } from "../status/routes.ts";
import type { AgentInput } from "./agent_input.ts";

/** Variables about the application. */
export interface StatusPlan {
  readonly probers: ReadonlyMap<string, AppProber>;
  /** Page of the application's metrics. */
  readonly application: string | undefined;
  /** Faults that keep an agent from starting: a sentence each. */
  readonly faults: readonly string[];
}

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;

/**
 * `MESH_AGENT_METRIC_PREFIX`. Empty for a prefix that is not the beginning of a metric's name; {@linkcode planStatus}
 * reports such a prefix.
 */
export function metricPrefix({ MESH_AGENT_METRIC_PREFIX: prefix }: AgentInput["settings"]): string {
  return METRIC_NAME.test(prefix) ? prefix : "";
}

/** Reads the variables about the application. The modules that read JSON are loaded only for a variable with JSON. */
export async function planStatus({ settings, proxy, workload }: AgentInput): Promise<StatusPlan> {
  const faults: string[] = [];
  let probers: StatusPlan["probers"] = new Map();
  let application: string | undefined;
  const prefix = settings.MESH_AGENT_METRIC_PREFIX;
  if (prefix !== "" && !METRIC_NAME.test(prefix)) {
    const expected = "the begin of a metric's name: letters, digits, _ and :, a digit not first";
    faults.push(`variable MESH_AGENT_METRIC_PREFIX: got ${JSON.stringify(prefix)}, expected ${expected}`);
  }
  const path = proxy.readinessProbe?.httpGet?.path ?? "";
  if (requestTarget(path) === undefined) {
    faults.push(`readinessProbe.httpGet.path: got ${JSON.stringify(path)}, expected the path of a URL`);
  }
  if (settings.MESH_ORCH_APP_PROBERS !== "") {
    const { readAppProbers } = await import("../../config/agent_texts/app_probers.ts");
    const read = readAppProbers(settings.MESH_ORCH_APP_PROBERS);
    if ("faults" in read) faults.push(...read.faults);
    else probers = read.probers;
  }
  // A gateway's port is open to other machines with the gateway's service, and a gateway has no application.
  if (settings.MESH_METRICS_ANNOTATIONS !== "" && workload.role === "sidecar") {
    const { readApplicationScrape } = await import("../../config/agent_texts/application_scrape.ts");
    const read = readApplicationScrape(settings.MESH_METRICS_ANNOTATIONS, proxy.statusPort);
    if ("faults" in read) faults.push(...read.faults);
    else application = read.url;
  }
  return { probers, application, faults };
}

/** `notReady`, with the duration of the start measured at the first ready answer. */
function measuredStart(actions: StatusActions, metrics: Metrics, clock: Clock): StatusActions["notReady"] {
  let isMeasured = false;
  return async () => {
    const reason = await actions.notReady();
    if (reason === undefined && !isMeasured) metrics.gauge("startup_duration_seconds").set(clock.monotonic() / 1000);
    isMeasured ||= reason === undefined;
    return reason;
  };
}

/** An open status port. */
export interface StatusPort {
  close(): Promise<void>;
}

/** @throws {Error} With the port when the port cannot be opened. */
export async function openStatusPort(
  { probers, application }: StatusPlan,
  actions: StatusActions,
  input: AgentInput,
  { clock, log, metrics }: { readonly clock: Clock; readonly log: Log; readonly metrics: Metrics },
): Promise<StatusPort> {
  const { settings, proxy, workload } = input;
  const { localhost } = familiesOf(workload.addresses, settings.MESH_DUAL_STACK);
  const admin = `http://${hostAndPort(localhost, proxy.proxyAdminPort)}`;
  const probes = probePages({
    probers,
    host: settings.REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION ? localhost : workload.addresses[0]!,
    statusPort: proxy.statusPort,
    http2: settings.MESH_ENABLE_HTTP2_PROBING,
    keepAlive: settings.ENABLE_PROBE_KEEPALIVE_CONNECTIONS,
    clock,
    log: log.scope("probes"),
  });
  const ofMetrics = metricsRoutes({
    ...{ metrics, version: buildInfo().tag, application, clock, log: log.scope("monitoring") },
    envoy: settings.DISABLE_PROXY ? undefined : `${admin}/stats/prometheus`,
    localOnly: settings.METRICS_LOCALHOST_ACCESS_ONLY,
  });
  const profiles = input.profiling
    ? (await import("../../http/profiles/routes.ts")).profileRoutes("pilot-agent", LOCAL_GUARDS)
    : [];
  const server = new HttpServer({
    routes: [
      ...statusRoutes({ ...actions, notReady: measuredStart(actions, metrics, clock) }),
      ...probes.routes,
      ...ofMetrics,
      ...profiles,
    ],
    log: log.scope("healthcheck"),
    clock,
  });
  try {
    await server.listen(`:${proxy.statusPort}`);
  } catch (error) {
    throw new Error(`statusPort ${proxy.statusPort}: ${(error as Error).message}`, { cause: error });
  }
  return {
    async close() {
      await server.close();
      probes.close();
    },
  };
}
