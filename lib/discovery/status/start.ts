/**
 * Values that a server writes back into the objects of the orchestrator: addresses of service entries, and status of
 * the kinds of the mesh.
 *
 * Permissions: sys (hostname), the permissions of the client; see `./address_duty.ts` and `./kind_status.ts`.
 *
 * @module
 */
import { saidOnce } from "../../finding/said_once.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { TokenBucket } from "../../orch/client/token_bucket.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import type { XdsServer } from "../../xds/server.ts";
import type { AnalysisRunner } from "../findings/analysis_runner.ts";
import type { Configuration } from "../sources/configuration.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import type { DiscoverySettings } from "../settings/settings.ts";
import type { GatewayApiSettings } from "../../gateway_api/groups/options.ts";
import { addressDuty } from "./address_duty.ts";
import { type PipelineProxy, startGatewayApiStatus } from "./gateway_api_start.ts";
import { KindStatus } from "./kind_status.ts";
import type { CountedProxy } from "./progress_rows.ts";
import { newReporterName } from "./server_reports.ts";
import type { StatusWorld } from "./status_world.ts";

export interface StatusParts {
  readonly client: ApiClient;
  readonly pipeline: Pipeline;
  readonly configuration: Configuration;
  readonly analysis: AnalysisRunner;
  readonly xds: XdsServer;
  /** Namespace of the server. */
  readonly namespace: string;
  /** DNS suffix of services. */
  readonly domain: string;
  /** Whether a proxy serves Gateways. */
  readonly servesGateways: (state: PipelineProxy) => boolean;
}

/** The settings in use. */
export type StatusVariables =
  & Pick<
    DiscoverySettings,
    | "MESH_ENABLE_CONTROLLER_QUEUE_METRICS"
    | "MESH_GATEWAY_STATUS_BURST"
    | "MESH_GATEWAY_STATUS_PATIENCE"
    | "PILOT_ANALYSIS_INTERVAL"
    | "PILOT_ENABLE_ANALYSIS"
    | "PILOT_ENABLE_GATEWAY_API_STATUS"
    | "PILOT_ENABLE_IP_AUTOALLOCATE"
    | "PILOT_STATUS_BURST"
    | "PILOT_STATUS_MAX_WORKERS"
    | "PILOT_STATUS_QPS"
    | "PILOT_STATUS_UPDATE_INTERVAL"
    | "POD_NAME"
    | "REVISION"
  >
  & GatewayApiSettings;

/**
 * Most updates of a burst under way at the same time. More would not be done sooner, but would wait in the API server, and
 * the renewal of a leader's lock behind them.
 */
const BURST_WORKERS = 16;

/** Begins to count for status, if status is on. @returns the duties of the server that writes status */
export function startStatus(
  parts: StatusParts,
  settings: StatusVariables,
  kernel: Pick<Kernel, "log" | "metrics" | "clock" | "stopper">,
): Duty[] {
  const { client, pipeline, configuration, namespace } = parts;
  const { clock } = kernel;
  const server = newReporterName(settings.POD_NAME);
  const limitOf = (burst: number) => new TokenBucket(settings.PILOT_STATUS_QPS, burst, clock);
  const limit = limitOf(settings.PILOT_STATUS_BURST);
  const workers = settings.PILOT_STATUS_MAX_WORKERS;
  const metrics = settings.MESH_ENABLE_CONTROLLER_QUEUE_METRICS ? kernel.metrics : undefined;
  const writing = (id: "status" | "ip-autoallocate" | "gateway-status") => ({
    ...{ id, workers, limit, clock, metrics, client, log: kernel.log.scope(id === "gateway-status" ? "status" : id) },
  });
  const duties: Duty[] = [];
  const proxies = () => countedProxies(pipeline, parts.xds);
  // A limit of their own: other statuses do not wait behind those of a thousand routes.
  const ofGateways = {
    ...writing("gateway-status"),
    limit: limitOf(settings.MESH_GATEWAY_STATUS_BURST),
    workers: Math.min(workers, BURST_WORKERS),
  };
  if (settings.PILOT_ENABLE_GATEWAY_API && settings.PILOT_ENABLE_GATEWAY_API_STATUS) {
    duties.push(
      startGatewayApiStatus({ ...parts, server, writing: ofGateways, proxies }, settings, kernel),
    );
  }
  if (settings.PILOT_ENABLE_IP_AUTOALLOCATE) {
    const { store } = configuration;
    const placeOf = configuration.placeOf.bind(configuration);
    duties.push(
      addressDuty({ client, store, entries: pipeline.entries, placeOf, writing: writing("ip-autoallocate") }),
    );
  }
  if (settings.PILOT_ENABLE_ANALYSIS) {
    const kinds = new KindStatus({
      ...{ client, world: statusWorld(parts), namespace, server },
      interval: settings.PILOT_STATUS_UPDATE_INTERVAL,
      analysisInterval: settings.PILOT_ANALYSIS_INTERVAL,
      writing: writing("status"),
      log: kernel.log.scope("status"),
    });
    kinds.start();
    kernel.stopper.add("status", () => kinds.stop());
    duties.push(kinds.duty);
  }
  return duties;
}

function statusWorld({ pipeline, configuration, analysis, xds }: StatusParts): StatusWorld {
  return {
    store: configuration.store,
    placeOf: (object) => configuration.placeOf(object),
    refused: () => configuration.refused(),
    changedIn: (key) => pipeline.known.changedIn(key),
    isWaiting: (object) => !pipeline.known.isPushed(object),
    proxies: () => countedProxies(pipeline, xds),
    ledger: xds.ledger,
    findings: () => saidOnce([...analysis.findings(), ...pipeline.warnings()]),
    get isBehind() {
      return analysis.isBehind;
    },
  };
}

function* countedProxies(pipeline: Pipeline, xds: XdsServer): Iterable<CountedProxy> {
  const sidecars = new Map<string, string>();
  for (const { proxy, proxyClass } of pipeline.translator.proxies()) {
    const key = proxyClass.scope.sidecar?.key;
    if (key !== undefined) sidecars.set(proxy.nodeId, key);
  }
  for (const { stream, progress } of xds.streams()) {
    if (stream === undefined || progress === undefined) continue;
    yield { view: stream.view, progress, sidecar: sidecars.get(stream.view.id) };
  }
}
