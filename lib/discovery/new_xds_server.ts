/**
 * The wire of a discovery server, from its options and settings.
 *
 * Permissions: sys (hostname).
 *
 * @module
 */
import { HeldInAll } from "../grpc/budget/held.ts";
import { LargeMessages } from "../grpc/budget/large.ts";
import type { GrpcService } from "../grpc/service.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { buildInfo } from "../kernel/program/build_info.ts";
import { collectYoung } from "../kernel/program/memory.ts";
import { XdsServer } from "../xds/server.ts";
import { wireMetrics } from "./measure.ts";
import type { Pipeline } from "./pipeline/pipeline.ts";
import { callLimits, type DiscoverySettings, wireLimits } from "./settings/settings.ts";
import type { PipelineSource } from "./proxies/source.ts";

/** The server's options for the wire; durations in milliseconds. */
export interface WireOptions {
  readonly keepaliveInterval: number;
  readonly keepaliveTimeout: number;
  readonly keepaliveMaxServerConnectionAge: number;
  readonly shutdownDuration: number;
  /** Number of cores, from which limits are derived. */
  readonly cores: number;
}

/** The settings in use. */
type WireVariables = Pick<
  DiscoverySettings,
  | "K_REVISION"
  | "MESH_GPRC_MAXRECVMSGSIZE"
  | "MESH_GPRC_MAXSTREAMS"
  | "MESH_MAX_CONNECTIONS"
  | "PILOT_ENABLE_AMBIENT"
  | "PILOT_MAX_REQUESTS_PER_SECOND"
  | "PILOT_PUSH_THROTTLE"
  | "POD_NAME"
>;

/**
 * Largest request of a node tunnel, in bytes. A tunnel that comes back names all resources that it has, each with about
 * 80 bytes. A connection may hold 16 MiB of unfinished messages.
 */
const TUNNEL_REQUEST = 12 * 1024 * 1024;

/**
 * Makes the server of streams. The server stops with the kernel.
 *
 * @param services Services beside discovery.
 */
export function newXdsServer(
  options: WireOptions,
  settings: WireVariables,
  kernel: Pick<Kernel, "program" | "log" | "metrics" | "drain" | "stopper">,
  pipeline: Pipeline,
  source: PipelineSource,
  services: readonly GrpcService[],
): XdsServer {
  const log = kernel.log.scope("ads");
  const xds = new XdsServer({
    ...{ source, services },
    resources: pipeline.table,
    metrics: wireMetrics(kernel.metrics),
    log: (level, message, fields) => log[level](message, fields),
    grpc: {
      keepaliveInterval: options.keepaliveInterval,
      keepaliveTimeout: options.keepaliveTimeout,
      maxConnectionAge: options.keepaliveMaxServerConnectionAge,
      ...callLimits(settings),
      held: new HeldInAll(undefined, undefined, new LargeMessages(undefined, () => collectYoung())),
    },
    ...wireLimits(settings),
    ...settings.PILOT_ENABLE_AMBIENT ? { maxLargeRequest: TUNNEL_REQUEST } : {},
    cores: options.cores,
    controlPlane: `${kernel.program} ${buildInfo().version}`,
    instance: instanceText(kernel.program, settings.POD_NAME || Deno.hostname()),
  });
  // A connecting client gets all earlier pushes, so an object of the start is live as soon as a client acknowledges it.
  xds.ledger.latest = pipeline.pushes;
  kernel.drain.signal.addEventListener("abort", () => xds.health.stop(), { once: true });
  kernel.stopper.add("discovery", () => xds.stop(options.shutdownDuration));
  return xds;
}

/** JSON about the answering server for tools made for Istio: `istioctl proxy-status` shows the server's name. */
function instanceText(program: string, name: string): string {
  const { runtime, ...build } = buildInfo();
  return JSON.stringify({ Component: program, ID: name, Info: { ...build, golang_version: runtime } });
}
