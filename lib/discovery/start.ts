/**
 * A discovery server in this process, with defaults for a first try. The caller supplies the explainer of requests and
 * the runner of previews. Other programs start a server by `lib/offline/library/start_server.ts`.
 *
 * Permissions: net (the listen addresses), read (the folder and the mesh files), env (`LOG_TOKENS` and `LOG_STREAM`,
 * which the YAML package reads).
 *
 * @module
 */
import type { Finding } from "../finding/finding.ts";
import { startKernel } from "../kernel/kernel.ts";
import { defaultLogOptions, silentLog } from "../kernel/log/log.ts";
import type { SettingsOf } from "../kernel/settings/catalogue.ts";
import type { Registry } from "../registry/types.ts";
import { startDiscoveryServer } from "./server.ts";
import type { DiscoveryServerOptions } from "./server_options.ts";

/** How a server is started. Addresses are `host:port`; port 0 takes a free port. */
export interface ServerOptions {
  /** Folder of configuration, watched. Default: no folder. */
  readonly configDir?: string;
  /** Discovery over gRPC. Default `127.0.0.1:0`. */
  readonly grpc?: string;
  /** Readiness, debug pages and metrics. Default `127.0.0.1:0`. */
  readonly http?: string;
  /**
   * File of the mesh configuration, watched. Default `./etc/mesh/config/mesh`. If the file is absent at the start, the
   * mesh configuration has its defaults.
   */
  readonly meshConfig?: string;
  /**
   * File of the mesh networks, watched. Default `./etc/mesh/config/meshNetworks`. If the file is absent at the start,
   * there are no mesh networks.
   */
  readonly networksConfig?: string;
  /** DNS suffix of services. Default `cluster.local`. */
  readonly domain?: string;
  /** Where services come from beside the folder. Default: nowhere. */
  readonly registries?: readonly Registry[];
  /** Services of manifests in the folder are part of the mesh, as with `--registries=File`. Default false. */
  readonly manifestServices?: boolean;
  /** Settings that differ from their defaults (docs/reference/settings.md). Environment variables are not read. */
  readonly settings?: Partial<SettingsOf<"pilot-discovery">>;
  /** Looks up variables that headers of providers name (`envName`). Default: there are no variables. */
  readonly variable?: (name: string) => string | undefined;
  /** Writes the log to the console. Default false: nothing is written. */
  readonly log?: boolean;
}

/** The result of `startServer`: addresses, state and end of a server. */
export interface RunningServer {
  /** Ports in use. */
  readonly ports: { readonly grpc: number; readonly http: number };
  /** The present findings about configuration. */
  findings(): Finding[];
  /** Ends the server: clients are asked to connect elsewhere. */
  stop(): Promise<void>;
}

/** Answers to questions for which a server is not enough. */
export type AskedOfServer = Pick<DiscoveryServerOptions, "explainer" | "preview">;

/**
 * Starts a server.
 *
 * @param settings The parsed settings of `options`.
 * @returns When sources are synced and the server listens.
 * @throws {StartError} When the folder cannot be read, the mesh configuration has errors, or a port cannot be used.
 */
export async function startServerWith(
  options: ServerOptions,
  settings: SettingsOf<"pilot-discovery">,
  asked: AskedOfServer,
): Promise<RunningServer> {
  const kernel = startKernel("pilot-discovery", defaultLogOptions, options.log ? {} : { log: silentLog() });
  const stop = async () => {
    const outcomes = await kernel.stopper.stop();
    kernel.log.close();
    const failed = outcomes.filter(({ result }) => result !== "done");
    if (failed.length > 0) throw new Error(`parts that did not stop cleanly: ${failed.map((o) => o.name).join(", ")}`);
  };
  try {
    const server = await startDiscoveryServer({ ...serverOptions(options, settings), ...asked }, settings, kernel);
    const { grpc, http } = server.ports;
    return {
      ports: { grpc, http },
      findings: () => [...server.findings()],
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function serverOptions(options: ServerOptions, settings: SettingsOf<"pilot-discovery">) {
  return {
    grpc: options.grpc ?? "127.0.0.1:0",
    http: options.http ?? "127.0.0.1:0",
    monitoring: undefined,
    configDir: options.configDir,
    meshConfig: options.meshConfig ?? "./etc/mesh/config/mesh",
    networksConfig: options.networksConfig ?? "./etc/mesh/config/meshNetworks",
    // The default files may be absent; files that a caller names may not.
    mustExist: (["meshConfig", "networksConfig"] as const).filter((name) => options[name] !== undefined),
    domain: options.domain ?? "cluster.local",
    clusterId: settings.CLUSTER_ID,
    clusterAliases: {},
    systemNamespace: settings.POD_NAMESPACE,
    registries: options.registries ?? [],
    manifestServices: options.manifestServices ?? false,
    ...(options.variable ? { variable: options.variable } : {}),
    keepaliveInterval: settings.GRPC_KEEPALIVE_INTERVAL,
    keepaliveTimeout: settings.GRPC_KEEPALIVE_TIMEOUT,
    keepaliveMaxServerConnectionAge: Infinity,
    shutdownDuration: 1000,
    cores: navigator.hardwareConcurrency,
  };
}
