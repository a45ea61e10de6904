/**
 * The ports of a server, and which pages each serves.
 *
 * Permissions: net (the listen addresses).
 *
 * @module
 */
import type http from "node:http";
import { type Handler, httpServer, serveConnection, text } from "../debug/http.ts";
import { introspection, type ProcessView } from "../debug/introspection.ts";
import { debugPages } from "../debug/pages.ts";
import type { DebugView } from "../debug/view.ts";
import { buildInfo } from "../kernel/build_info.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { SettingsOf } from "../kernel/settings/catalogue.ts";
import { listen, type Listener, parseListenAddress } from "../sockets/listen/tcp.ts";
import type { XdsServer } from "../xds/server.ts";
import { Sockets } from "./sockets.ts";

type Settings = SettingsOf<"pilot-discovery">;

/** Where the introspection pages are served, and what they tell beside what the server knows itself. */
export interface IntrospectionOptions {
  /** `host:port`. */
  readonly address: string;
  /** Asked for by name: a server that cannot have the address does not start. Otherwise it goes on without. */
  readonly required: boolean;
  readonly args: readonly string[];
  /** The variables that the program reads, as far as they are set. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Addresses to listen on, as in `DiscoveryServerOptions`. */
export interface PortOptions {
  readonly grpc: string | undefined;
  readonly http: string;
  readonly monitoring: string | undefined;
  readonly introspection?: IntrospectionOptions;
}

/** Ports in use, of interest where 0 was asked for. */
export interface Ports {
  readonly grpc: number;
  readonly http: number;
  readonly monitoring: number;
  /** Undefined: no introspection pages. */
  readonly introspection?: number;
}

/**
 * Opens all ports of a server.
 *
 * @throws {StartError} naming each address that cannot be had.
 */
export async function openPorts(
  options: PortOptions,
  settings: Settings,
  kernel: Kernel,
  xds: XdsServer,
  view: DebugView,
): Promise<Ports> {
  const { log } = kernel;
  const failed = (error: unknown, path: string) => log.scope("monitor").error("a page failed", { path, error });
  const debug = settings.ENABLE_DEBUG_ON_HTTP ? [debugPages(view, settings.UNSAFE_ENABLE_ADMIN_ENDPOINTS)] : [];
  const monitoringPages = [monitoring(settings, kernel), ...debug];
  const pages = [readiness(kernel), ...debug, ...(options.monitoring === undefined ? monitoringPages : [])];
  const web = httpServer(pages, failed);
  kernel.stopper.add("http", () => closeHttp(web));
  const hand = serveConnection(web);
  const { grpc, http, monitoring: metrics } = options;
  const sockets = new Sockets();
  const first = await sockets.open(
    "http",
    http,
    () => grpc === undefined ? xds.listen(http, hand) : listenHttp(http, web, kernel),
  );
  const own = grpc === undefined ? first : await sockets.open("grpc", grpc, () => xds.listen(grpc));
  let second = first;
  if (metrics !== undefined) {
    const monitor = httpServer(monitoringPages, failed);
    kernel.stopper.add("monitoring", () => closeHttp(monitor));
    second = await sockets.open("monitoring", metrics, () => listenHttp(metrics, monitor, kernel));
  }
  const third = options.introspection && await openIntrospection(options.introspection, sockets, kernel);
  sockets.check();
  return { grpc: own, http: first, monitoring: second, ...(third === undefined ? {} : { introspection: third }) };
}

/** The port; undefined where it could not be had and need not be. */
async function openIntrospection(
  { address, required, args, environment }: IntrospectionOptions,
  sockets: Sockets,
  kernel: Kernel,
): Promise<number | undefined> {
  const { log, program } = kernel;
  const view: ProcessView = { program, log, args, environment, exit: () => kernel.drain.start("introspection") };
  const failed = (error: unknown, path: string) => log.scope("default").error("a page failed", { path, error });
  const server = httpServer([introspection(view, isLoopback(address))], failed);
  kernel.stopper.add("introspection", () => closeHttp(server));
  const open = () => listenHttp(address, server, kernel);
  if (required) return await sockets.open("introspection", address, open);
  try {
    return (await open()).port;
  } catch (error) {
    // One that is only there by default keeps nobody from serving proxies.
    log.scope("default").warn("no introspection pages: the address cannot be had", { address, error });
    return undefined;
  }
}

function isLoopback(address: string): boolean {
  const host = parseListenAddress(address).host ?? "";
  return /^(?:localhost|127\..*|::1)$/i.test(host);
}

async function listenHttp(address: string, server: http.Server, kernel: Kernel): Promise<Listener> {
  const listener = await listen(parseListenAddress(address), serveConnection(server));
  kernel.stopper.add(`listener ${address}`, () => listener.close());
  return listener;
}

/** Connections that are idle are cut; a page in flight may end. */
function closeHttp(server: http.Server): void {
  server.closeAllConnections();
}

/** `/ready`: 200 when sources are synced and the server listens, else 503. */
function readiness(kernel: Kernel): Handler {
  return ({ url }) =>
    url.pathname === "/ready" ? { status: kernel.readiness.ready() ? 200 : 503, body: "" } : undefined;
}

/** `/metrics` and `/version`. */
function monitoring(settings: Settings, kernel: Kernel): Handler {
  return async ({ url, fromLoopback }) => {
    if (url.pathname === "/version") {
      const { version, revision, status } = buildInfo();
      return text(200, `${version}-${revision}-${status}\n`);
    }
    if (url.pathname !== "/metrics") return undefined;
    if (settings.METRICS_LOCALHOST_ACCESS_ONLY && !fromLoopback) return text(403, "only from this machine\n");
    return { status: 200, ...await kernel.metrics.scrape() };
  };
}
