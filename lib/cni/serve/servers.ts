/**
 * The servers of the node agent: metrics, health, and the plugin's socket.
 *
 * Permissions: net (the listen addresses), read and write (the socket's path).
 *
 * @module
 */
import { type IntrospectionPort, openIntrospection } from "../../http/introspection_port.ts";
import { textResponse } from "../../http/message.ts";
import { monitoringRoutes } from "../../http/monitoring.ts";
import type { Route } from "../../http/route.ts";
import type { LoadRoutes } from "../../http/router.ts";
import { HttpServer } from "../../http/server.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { Logger } from "../../kernel/log/log.ts";
import { systemFileCalls } from "../node/file_calls.ts";
import { EVENT_SOCKET, LOG_SOCKET } from "../plugin/report.ts";
import type { PodLookup } from "../pods/source.ts";
import { eventRoutes, pluginRoutes, type PodTaker } from "./plugin_routes.ts";
import { Attempts } from "./start_error.ts";

/** The addresses of the servers, and their clients. Ports of 0 are chosen by the system. */
export interface ServeOptions {
  readonly runDir: string;
  readonly healthPort: number;
  readonly monitoringPort: number;
  /** Only clients of this machine get metrics (`METRICS_LOCALHOST_ACCESS_ONLY`). */
  readonly metricsLocalOnly: boolean;
  /** Host names allowed in requests for metrics in this case, in addition to addresses and localhost. */
  readonly names: readonly string[];
  /** Pages about the process. Absent: none. */
  readonly introspection?: NodeIntrospection;
}

/** The port and the loader of the pages about the process. */
export interface NodeIntrospection extends IntrospectionPort {
  /** Loads the pages with the first request. */
  readonly later: LoadRoutes;
}

/** Ports in use. */
export interface NodePorts {
  readonly health: number;
  readonly monitoring: number;
  /** Undefined: no introspection pages. */
  readonly introspection?: number;
}

/** Servers at work. */
export interface NodeServers extends NodePorts {
  /** Makes the plugin's socket again after the run folder was gone. A failure is logged: the plugin works without. */
  renewSocket(): void;
}

/**
 * Starts all servers. They close with the kernel's stopper.
 * @throws {NodeAgentStartError} With each port, and the run folder, that cannot be used.
 */
export async function serveNode(
  options: ServeOptions,
  kernel: Kernel,
  pods: PodLookup,
  notReady: () => string | undefined,
  taker?: PodTaker,
): Promise<NodeServers> {
  const { runDir, healthPort, monitoringPort, metricsLocalOnly, names } = options;
  const attempts = new Attempts();
  const serve = async (name: string, address: string, routes: readonly Route[], later?: LoadRoutes) => {
    const log = kernel.log.scope("cni-agent");
    const server = new HttpServer({ routes, log, clock: kernel.clock, ...later && { later } });
    const { port } = await server.listen(address);
    kernel.stopper.add(name, () => server.close());
    return port;
  };
  const listen = (name: string, option: "monitoringPort" | "healthPort", routes: readonly Route[]) =>
    attempts.try(option, options[option], "a port that is free", () => serve(name, `:${options[option]}`, routes));
  const introspect = async (wanted: NodeIntrospection) => {
    const open = () => serve("introspection", wanted.address, [], wanted.later);
    const require = () => attempts.try("introspection", wanted.address, "an address that is free", open);
    return await openIntrospection(wanted, { open, require }, kernel.log.scope("cni-agent"));
  };
  const scraped = monitoringRoutes(kernel.metrics, { localOnly: metricsLocalOnly, names });
  const monitoring = await listen("metrics", "monitoringPort", scraped);
  const socket = pluginSockets(runDir, kernel, pods, taker);
  await attempts.try("runDir", runDir, "a folder that this program may write to", async () => {
    systemFileCalls.makeFolder(runDir, 0o755);
    await socket.open();
    kernel.stopper.add("plugin socket", () => socket.close());
  });
  const health = await listen("health", "healthPort", healthRoutes(notReady));
  const introspection = options.introspection && await introspect(options.introspection);
  attempts.check();
  return {
    health: health ?? healthPort,
    monitoring: monitoring ?? monitoringPort,
    ...(introspection === undefined ? {} : { introspection }),
    renewSocket: () => socket.renew(),
  };
}

/** The plugin's sockets. They disappear with the run folder and have to come back with the folder. */
function pluginSockets(runDir: string, kernel: Kernel, pods: PodLookup, taker: PodTaker | undefined) {
  let servers: readonly HttpServer[] = [];
  const close = () => Promise.all(servers.map((server) => server.close()));
  /** One change after the other: a new socket may get the inode of the old socket. */
  let last: Promise<void> = Promise.resolve();
  const open = async () => {
    const log = kernel.log.scope("cni-plugin");
    servers = [await servePlugin(`${runDir}/${LOG_SOCKET}`, log, pods)];
    if (taker === undefined) return;
    const events = new HttpServer({ routes: eventRoutes(taker, kernel.log.scope("cni-agent")), log });
    servers = [...servers, events];
    await events.listenUnix(`${runDir}/${EVENT_SOCKET}`, { mode: 0o600, takeOver: true });
  };
  return {
    open,
    renew() {
      last = last.then(close).then(open).catch((error) => {
        kernel.log.scope("cni-agent").error("the plugin's socket cannot be created again", { error });
      });
    },
    async close() {
      await last;
      await close();
    },
  };
}

/**
 * Serves the plugin's socket. An installer that still listens there is ending, and is replaced.
 * @throws {Error} When the socket cannot be made.
 */
export async function servePlugin(path: string, log: Logger, pods: PodLookup): Promise<HttpServer> {
  const server = new HttpServer({ routes: pluginRoutes(log, pods), log });
  await server.listenUnix(path, { mode: 0o600, takeOver: true });
  return server;
}

// Liveness and readiness of the installer, for the orchestrator.

/**
 * `/healthz`: 200 as long as the program runs. `/readyz`: 200 when the plugin is installed, else 503 with the reason.
 *
 * @param notReady the reason; undefined: the plugin is installed
 */
function healthRoutes(notReady: () => string | undefined): Route[] {
  return [
    { methods: ["GET"], path: "/healthz", handle: () => textResponse(200, "ok\n") },
    {
      methods: ["GET"],
      path: "/readyz",
      handle: () => {
        const reason = notReady();
        return reason === undefined ? textResponse(200, "ok\n") : textResponse(503, `${reason}\n`);
      },
    },
  ];
}
