/**
 * The ports of a server, and the pages on each port.
 *
 * Permissions: net (the listen addresses), sys (hostname).
 *
 * @module
 */
import type { AudienceOf } from "../debug/audience.ts";
import type { ProcessView } from "../debug/introspection.ts";
import type { DebugView } from "../debug/view.ts";
import { inTurns } from "../http/in_turns.ts";
import { type IntrospectionPort, openIntrospection } from "../http/introspection_port.ts";
import { monitoringRoutes } from "../http/monitoring.ts";
import { guardOwnNames } from "../http/own_names.ts";
import type { Route } from "../http/route.ts";
import type { LoadRoutes } from "../http/router.ts";
import { HttpServer } from "../http/server.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { commaList } from "../kernel/text/comma_list.ts";
import { listen, type Listener, parseListenAddress } from "../sockets/listen/tcp.ts";
import type { XdsServer } from "../xds/server.ts";
import { listenWithIdentity, openSecurePort, type SecurePortOptions } from "./identity/secure_port.ts";
import type { Injector } from "./injector/injector.ts";
import { webhookRoutes } from "./injector/webhooks.ts";
import { wholeGuard } from "./other_clients/page_callers.ts";
import type { DiscoverySettings } from "./settings/settings.ts";
import { listenFault, type PortOption, StartError, type StartFault } from "./settings/start_error.ts";

/** Opens sockets one after the other, and reports all unusable addresses at once. */
class Sockets {
  readonly #faults: StartFault[] = [];
  readonly #addresses = new Set<string>();
  #cause: unknown;

  /** Opens a socket. Returns the port; 0 when the address cannot be used, which {@linkcode Sockets.check} reports. */
  async open(
    option: PortOption,
    address: string,
    listening: () => Promise<Listener>,
  ): Promise<number> {
    try {
      const { port } = await listening();
      this.#addresses.add(address);
      return port;
    } catch (error) {
      const fault = listenFault(option, address, error, this.#addresses.has(address));
      if (fault === undefined) throw error;
      this.#faults.push(fault);
      this.#cause ??= error;
      return 0;
    }
  }

  get faults(): readonly StartFault[] {
    return this.#faults;
  }

  /** @throws {StartError} When a socket could not be opened. */
  check(): void {
    if (this.#faults.length > 0) throw new StartError(this.#faults, this.#cause);
  }
}

/** The address of the introspection pages, and facts for the pages from the program. */
export interface IntrospectionOptions extends IntrospectionPort {
  readonly args: readonly string[];
  /** The environment variables that the program reads and that are set. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Addresses to listen on, as in `DiscoveryServerOptions`. */
export interface PortOptions {
  readonly grpc: string | undefined;
  /** Absent: no discovery over TLS. */
  readonly secureGrpc?: string | undefined;
  readonly http: string;
  /** Webhooks over TLS; empty: webhooks are served on `http`, for a proxy that ends TLS. Absent: no webhooks. */
  readonly webhooks?: string | undefined;
  readonly monitoring: string | undefined;
  readonly introspection?: IntrospectionOptions;
  /** Serves profiles on `http`, to clients that may see debug pages. Default: profiles are not served. */
  readonly profiling?: boolean;
}

/** Inputs of the ports beside addresses. */
export interface PortParts {
  readonly kernel: Kernel;
  readonly xds: XdsServer;
  readonly view: DebugView;
  /** Decides which debug pages a client may see. */
  readonly audience: AudienceOf;
  /** Undefined: there is no certificate, so nothing is served over TLS. */
  readonly tls: SecurePortOptions | undefined;
  /** TLS of the port of webhooks; undefined when `tls` is undefined. */
  readonly webhookTls: SecurePortOptions | undefined;
  /** Undefined: pods are not injected. */
  readonly injector: Injector | undefined;
}

/** The used ports. For port 0 in an address the system chooses a port. */
export interface ServerPorts {
  readonly grpc: number;
  /** Undefined: no discovery over TLS. */
  readonly secureGrpc?: number;
  readonly http: number;
  /** Undefined: no webhooks over TLS. */
  readonly webhooks?: number;
  readonly monitoring: number;
  /** Undefined: no introspection pages. */
  readonly introspection?: number;
}

/** The settings in use. */
type PortVariables = Pick<
  DiscoverySettings,
  "ENABLE_DEBUG_ON_HTTP" | "MESH_DEBUG_HOSTS" | "METRICS_LOCALHOST_ACCESS_ONLY" | "UNSAFE_ENABLE_ADMIN_ENDPOINTS"
>;

/**
 * Opens all ports of a server.
 *
 * @throws {StartError} naming each unusable address.
 */
export async function openPorts(
  options: PortOptions,
  settings: PortVariables,
  parts: PortParts,
): Promise<ServerPorts> {
  const { kernel, xds, tls } = parts;
  const names = ownNames(settings);
  const debug = settings.ENABLE_DEBUG_ON_HTTP ? laterPages(settings, parts, names) : undefined;
  const scraped = inTurns(
    monitoringRoutes(kernel.metrics, { localOnly: settings.METRICS_LOCALHOST_ACCESS_ONLY, names }),
  );
  const { grpc, http, monitoring } = options;
  const profiles = options.profiling
    ? (await import("../http/profiles/routes.ts")).profileRoutes(kernel.program, [
      wholeGuard(parts.audience),
      guardOwnNames(names),
    ])
    : [];
  const pages = [
    readyRoute(kernel),
    ...profiles,
    ...(monitoring === undefined ? scraped : []),
    ...(options.webhooks === "" ? inTurns(webhookRoutes(kernel, parts.injector)) : []),
  ];
  const web = newServer("http", pages, kernel, debug);
  const sockets = new Sockets();
  const httpPort = await sockets.open(
    "http",
    http,
    () => grpc === undefined ? xds.listen(http, (socket) => web.accept(socket)) : web.listen(http),
  );
  const grpcPort = grpc === undefined ? httpPort : await sockets.open("grpc", grpc, () => xds.listen(grpc));
  const { secureGrpc } = options;
  const securePort = secureGrpc === undefined || tls === undefined
    ? undefined
    : await sockets.open("secureGrpc", secureGrpc, () => openSecurePort(secureGrpc, tls, xds, kernel));
  const webhooksPort = await openWebhooks(options.webhooks, parts, sockets);
  let monitoringPort = httpPort;
  if (monitoring !== undefined) {
    const server = newServer("monitoring", scraped, kernel, debug);
    monitoringPort = await sockets.open("monitoring", monitoring, () => server.listen(monitoring));
  }
  const introspection = options.introspection && await openProcessPages(options.introspection, {
    ...{ names, kernel, sockets },
    ...(settings.ENABLE_DEBUG_ON_HTTP ? { pagesPort: httpPort } : {}),
  });
  sockets.check();
  return {
    grpc: grpcPort,
    http: httpPort,
    monitoring: monitoringPort,
    ...(securePort === undefined ? {} : { secureGrpc: securePort }),
    ...(webhooksPort === undefined ? {} : { webhooks: webhooksPort }),
    ...(introspection === undefined ? {} : { introspection }),
  };
}

/**
 * Tries each address for a moment, and returns the unusable addresses. For a start that has already failed, so that one
 * report names all faults.
 */
export async function freePortFaults(options: PortOptions): Promise<readonly StartFault[]> {
  const opened: Listener[] = [];
  const sockets = new Sockets();
  const { grpc, secureGrpc, http, webhooks, monitoring, introspection } = options;
  const named = introspection?.required ? introspection.address : undefined;
  const addresses = { http, grpc, secureGrpc, webhooks: webhooks || undefined, monitoring, introspection: named };
  for (const [option, address] of Object.entries(addresses) as [PortOption, string | undefined][]) {
    if (address === undefined) continue;
    await sockets.open(option, address, async () => {
      const listener = await listen(parseListenAddress(address), (socket) => void socket.destroy());
      opened.push(listener);
      return listener;
    });
  }
  await Promise.all(opened.map((listener) => listener.close()));
  return sockets.faults;
}

/** Opens the port of webhooks over TLS. Returns undefined without such a port. */
async function openWebhooks(
  address: string | undefined,
  { webhookTls: tls, injector, kernel }: PortParts,
  sockets: Sockets,
): Promise<number | undefined> {
  if (address === undefined || address === "") return undefined;
  if (tls === undefined) {
    kernel.log.scope("default").warn("no webhooks: the server has no certificate to serve them with", { address });
    return undefined;
  }
  const server = newServer("webhooks", inTurns(webhookRoutes(kernel, injector)), kernel);
  const listen = () =>
    listenWithIdentity(
      "port of webhooks",
      tls,
      kernel,
      (certificates, options) => server.listenTls(address, certificates, options),
    );
  return await sockets.open("webhooks", address, listen);
}

/**
 * Loads the modules of the debug pages, for programs and for people: an eighth of the server's code. A start does not
 * wait for them.
 */
export async function loadPageModules() {
  const [debug, web] = await Promise.all([import("../debug/pages.ts"), import("../web/routes.ts")]);
  return { debugRoutes: debug.debugRoutes, webRoutes: web.webRoutes };
}

/**
 * The debug pages. Their modules are loaded at the first request, or before by {@linkcode loadPageModules} in an idle
 * server.
 */
function laterPages(
  settings: Pick<DiscoverySettings, "UNSAFE_ENABLE_ADMIN_ENDPOINTS">,
  { kernel, view, audience }: PortParts,
  names: readonly string[],
): LoadRoutes {
  let pages: readonly Route[] | undefined;
  return async () => {
    const { debugRoutes, webRoutes } = await loadPageModules();
    const routes = debugRoutes(view, settings.UNSAFE_ENABLE_ADMIN_ENDPOINTS, names, audience);
    return pages ??= inTurns(webRoutes(routes, view, names, kernel.clock, audience));
  };
}

/** A server of pages that closes with the program. */
function newServer(
  name: string,
  routes: readonly Route[],
  kernel: Pick<Kernel, "log" | "clock" | "stopper">,
  later?: LoadRoutes,
): HttpServer {
  const log = kernel.log.scope("monitor");
  const server = new HttpServer({ routes, log, clock: kernel.clock, ...later && { later } });
  kernel.stopper.add(name, () => server.close());
  return server;
}

/** Host names under which debug pages may be requested, beside addresses and localhost. */
function ownNames(settings: Pick<DiscoverySettings, "MESH_DEBUG_HOSTS">): string[] {
  const configured = commaList(settings.MESH_DEBUG_HOSTS);
  return [Deno.hostname(), ...configured];
}

/** The port of the pages about the process; undefined: the address cannot be used, and the port is optional. */
async function openProcessPages(
  { args, environment, ...port }: IntrospectionOptions,
  { kernel, sockets, ...pages }: {
    readonly kernel: Pick<Kernel, "program" | "log" | "clock" | "drain" | "stopper">;
    readonly sockets: Sockets;
    readonly names: readonly string[];
    readonly pagesPort?: number;
  },
): Promise<number | undefined> {
  const { log, program } = kernel;
  const exit = () => kernel.drain.start("introspection");
  const view: ProcessView = { program, log, args, environment, ...pages, exit };
  const later = async () => (await import("../debug/introspection.ts")).introspectionRoutes(view);
  const server = newServer("introspection", [], kernel, later);
  const listen = () => server.listen(port.address);
  const open = async () => (await listen()).port;
  const require = () => sockets.open("introspection", port.address, listen);
  return await openIntrospection(port, { open, require }, log.scope("default"));
}

/** `/ready`: 200 when sources are synced and the server listens, else 503. */
function readyRoute(kernel: Pick<Kernel, "readiness">): Route {
  return {
    methods: ["GET"],
    path: "/ready",
    handle: () => ({ status: kernel.readiness.ready() ? 200 : 503, body: "" }),
  };
}
