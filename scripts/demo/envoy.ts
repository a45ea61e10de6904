/**
 * Starts real Envoys that get all configuration from a discovery server over a delta ADS stream.
 *
 * Permissions: run (envoy), read and write (a temporary folder), net (loopback), env (ENVOY).
 *
 * @module
 */

import { PortTaken, saysTaken } from "../ports.ts";

/** The identity of an Envoy in the mesh. */
export interface EnvoyIdentity {
  /** `sidecar` or `router`. */
  readonly type: "sidecar" | "router";
  readonly name: string;
  readonly namespace: string;
  readonly address: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Further metadata of the node, such as `TLS_SERVER_CERT_CHAIN`. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Further clusters of the bootstrap, such as an agent's cluster. */
  readonly clusters?: readonly unknown[];
  /** Runtime values of the bootstrap, such as limits. */
  readonly runtime?: Readonly<Record<string, unknown>>;
}

/** How an Envoy is started. */
export interface EnvoyOptions {
  readonly binary: string;
  /** The folder for Envoy's files. File names begin with the identity's name. */
  readonly folder: string;
  readonly identity: EnvoyIdentity;
  readonly discoveryPort: number;
  /** Delta with virtual hosts one by one (default), or state of the world. */
  readonly delta?: boolean;
  /** How traffic reaches the proxy: `NONE` (default), `REDIRECT` or `TPROXY`. */
  readonly interceptionMode?: string;
  /** Drain time of old listeners and filter chains, s. Default: Envoy's own, 600. */
  readonly drainTime?: number;
  /** Unused series are removed after this time, s. Default: never. */
  readonly evictionInterval?: number;
  /** Further variables of Envoy's process. */
  readonly variables?: Readonly<Record<string, string>>;
}

export interface RunningEnvoy {
  readonly adminPort: number;
  readonly pid: number;
  /** Resolves with Envoy's output at its end. */
  readonly ended: Promise<string>;
  /**
   * Resolves when Envoy is live and accepts connections at all given addresses (`127.0.0.1:8080`), like an
   * orchestrator's check of readiness.
   *
   * @throws PortTaken when Envoy could not bind a port. Error when Envoy ends, or is not ready in time.
   */
  ready(addresses: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

/** How long an Envoy may take to start and to become ready, ms. */
const PATIENCE = 90_000;

/** Path of Envoy: from the variable `ENVOY`, else from the set-up. */
export function envoyBinary(): string {
  return Deno.env.get("ENVOY") ?? new URL("../../.cache/envoy/envoy/_bin/envoy", import.meta.url).pathname;
}

/** Listeners without an address, needed for HBONE. */
const INTERNAL_LISTENERS = {
  name: "envoy.bootstrap.internal_listener",
  typed_config: { "@type": "type.googleapis.com/envoy.extensions.bootstrap.internal_listener.v3.InternalListener" },
};

/** The static part of an Envoy's configuration: the Envoy's identity and the discovery server. */
export function bootstrap(
  { identity, discoveryPort, delta = true, interceptionMode = "NONE", evictionInterval }: Omit<
    EnvoyOptions,
    "binary" | "folder"
  >,
): unknown {
  const { type, name, namespace, address, labels, metadata = {}, clusters = [], runtime } = identity;
  const socket = (address: string, port_value: number) => ({ socket_address: { address, port_value } });
  const api = { resource_api_version: "V3" };
  const eviction = evictionInterval === undefined
    ? {}
    : { stats_flush_interval: `${evictionInterval}s`, stats_eviction_interval: `${evictionInterval}s` };
  return {
    ...eviction,
    node: {
      id: `${type}~${address}~${name}.${namespace}~${namespace}.svc.cluster.local`,
      cluster: `${name}.${namespace}`,
      metadata: {
        ...{ NAMESPACE: namespace, INSTANCE_IPS: address, LABELS: labels, INTERCEPTION_MODE: interceptionMode },
        ...metadata,
      },
    },
    admin: { address: socket("127.0.0.1", 0) },
    bootstrap_extensions: [INTERNAL_LISTENERS],
    ...runtime === undefined ? {} : { layered_runtime: { ["layers"]: [{ name: "own", static_layer: runtime }] } },
    dynamic_resources: {
      ads_config: {
        api_type: delta ? "DELTA_GRPC" : "GRPC",
        transport_api_version: "V3",
        set_node_on_first_message_only: true,
        grpc_services: [{ envoy_grpc: { cluster_name: "xds-grpc" } }],
      },
      cds_config: { ads: {}, ...api },
      lds_config: { ads: {}, ...api },
    },
    static_resources: {
      clusters: [...clusters, {
        name: "xds-grpc",
        type: "STATIC",
        connect_timeout: "1s",
        load_assignment: {
          cluster_name: "xds-grpc",
          endpoints: [{ lb_endpoints: [{ endpoint: { address: socket("127.0.0.1", discoveryPort) } }] }],
        },
        typed_extension_protocol_options: {
          "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
            "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
            explicit_http_config: { http2_protocol_options: {} },
          },
        },
      }],
    },
  };
}

/** Starts an Envoy that refuses resources with unknown fields. Resolves when the admin pages are available. */
export async function startEnvoy(options: EnvoyOptions): Promise<RunningEnvoy> {
  const { binary, folder, identity, drainTime, variables = {} } = options;
  const file = `${folder}/${identity.name}.json`;
  const address = `${folder}/${identity.name}.admin`;
  await Deno.writeTextFile(file, JSON.stringify(bootstrap(options), null, 2));
  const child = new Deno.Command(binary, {
    args: [
      ...["-c", file, "--admin-address-path", address, "--use-dynamic-base-id", "--concurrency", "1"],
      ...["--reject-unknown-dynamic-fields", "--log-level", "warning"],
      ...drainTime === undefined ? [] : ["--drain-time-s", String(drainTime), "--drain-strategy", "immediate"],
    ],
    stdout: "null",
    stderr: "piped",
    env: { ...variables },
  }).spawn();
  const log = new Log(child.stderr);
  let over = false;
  const status = child.status.then(() => over = true);
  const stop = async () => {
    if (!over) child.kill("SIGTERM");
    await status;
    await log.whole;
  };
  /** Waits, unless Envoy's output or end shows that the wait is in vain. */
  const until = async (what: string, holds: () => Promise<boolean>) => {
    for (const end = performance.now() + PATIENCE; !await holds();) {
      if (saysTaken(log.text)) throw new PortTaken(`${identity.name}: ${log.text}`);
      if (over) throw new Error(`${identity.name} ended: ${log.text}`);
      if (performance.now() > end) throw new Error(`${identity.name}: no ${what} within ${PATIENCE / 1000} s`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  let adminPort = 0;
  try {
    await until("admin address", async () => {
      adminPort = await portIn(address);
      return adminPort > 0;
    });
  } catch (error) {
    await stop();
    throw error;
  }
  const isReady = async (addresses: readonly string[]) => {
    if (await adminPage(adminPort, "ready") !== "LIVE\n") return false;
    for (const address of addresses) if (!await takesConnections(address)) return false;
    return true;
  };
  return {
    adminPort,
    pid: child.pid,
    ended: log.whole,
    ready: (addresses) => until(`listener at ${addresses.join(" and ")}`, () => isReady(addresses)),
    stop,
  };
}

/** The output of a program. */
class Log {
  text = "";
  /** The whole output, at the end. */
  readonly whole: Promise<string>;

  constructor(stream: ReadableStream<Uint8Array>) {
    this.whole = this.#read(stream);
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<string> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) this.text += text;
    return this.text;
  }
}

/** The port in the file with Envoy's admin address. 0 while the file is missing. */
async function portIn(path: string): Promise<number> {
  try {
    return Number(/:(\d+)\s*$/.exec(await Deno.readTextFile(path))?.[1] ?? 0);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}

/** An admin page; undefined while there is no answer. */
export async function adminPage(port: number, page: string): Promise<string | undefined> {
  try {
    return await (await fetch(`http://127.0.0.1:${port}/${page}`)).text();
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

async function takesConnections(address: string): Promise<boolean> {
  const at = address.lastIndexOf(":");
  const hostname = address.slice(0, at).replace(/^\[(.*)\]$/, "$1");
  try {
    (await Deno.connect({ hostname, port: Number(address.slice(at + 1)) })).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.ConnectionRefused) return false;
    throw error;
  }
}
