/**
 * A running Envoy with a gateway's listeners and routes at Unix sockets, and clients of the gateway.
 *
 * Permissions: read and write (temp folder), run (envoy).
 *
 * @module
 */
import type { Duplex } from "node:stream";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import { any, encode } from "../../../lib/pb/codec.ts";
import { decode, readable } from "../../../lib/pb/reflect.ts";
import { ApiVersion } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { startEnvoyProcess } from "../../../scripts/envoy.ts";
import { unixStream } from "./unix_stream.ts";

type Listener = envoy.config.listener.v3.Listener;
type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;
type Hcm = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;

type Secret = envoy.extensions.transport_sockets.tls.v3.Secret;
type DownstreamTls = envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext;

const TLS = "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext";
const SECRET = "envoy.extensions.transport_sockets.tls.v3.Secret";
const HCM = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/** The resources for Envoy. */
export interface Served {
  readonly listeners: readonly Listener[];
  /** Route configurations by name, inserted into the connection managers that refer to them. */
  readonly routes: ReadonlyMap<string, RouteConfiguration>;
  readonly clusters?: readonly envoy.config.cluster.v3.Cluster[];
  /** Secrets of the listeners. */
  readonly secrets?: readonly Secret[];
}

/** Runs Envoy as long as `use` does. */
export async function withEnvoy(path: string, served: Served, use: () => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const secrets = new Map<string, string>();
  for (const [i, secret] of (served.secrets ?? []).entries()) {
    const path = `${folder}/${i}.json`;
    const resource = {
      "@type": `type.googleapis.com/${SECRET}`,
      ...readable(SECRET, encode(SECRET, secret)) as object,
    };
    await Deno.writeTextFile(path, JSON.stringify({ resources: [resource] }));
    secrets.set(secret.name ?? "", path);
  }
  const bootstrap: envoy.config.bootstrap.v3.Bootstrap = {
    node: { id: "test", cluster: "test" },
    static_resources: {
      listeners: served.listeners.map((listener) => withSecrets(withRoutes(listener, served.routes), secrets)),
      clusters: [...served.clusters ?? []],
    },
  };
  const bytes = encode("envoy.config.bootstrap.v3.Bootstrap", bootstrap);
  try {
    await using running = await startEnvoyProcess({ binary: path, bootstrap: bytes, folder });
    await running.ready(served.listeners.flatMap(({ address }) => address?.pipe?.path ?? []));
    await use();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The listener with inline routes instead of a subscription. */
function withRoutes(listener: Listener, routes: Served["routes"]): Listener {
  const filter = (one: envoy.config.listener.v3.Filter): envoy.config.listener.v3.Filter => {
    if (one.name !== "envoy.filters.network.http_connection_manager" || !one.typed_config) return one;
    const { rds, ...manager } = decode<Hcm>(HCM, one.typed_config.value as Uint8Array);
    const found = routes.get(rds?.route_config_name ?? "");
    return { ...one, typed_config: any(HCM, { ...manager, ...(found && { route_config: found }) }) };
  };
  const chains = listener.filter_chains?.map((chain) => ({ ...chain, filters: chain.filters?.map(filter) ?? [] }));
  return { ...listener, filter_chains: chains ?? [] };
}

/** The listener with secrets in files instead of a subscription. */
function withSecrets(listener: Listener, paths: ReadonlyMap<string, string>): Listener {
  const chains = listener.filter_chains?.map((chain) => {
    const socket = chain.transport_socket;
    if (socket?.typed_config === undefined) return chain;
    const context = decode<DownstreamTls>(TLS, socket.typed_config.value as Uint8Array);
    const common = context.common_tls_context ?? {};
    const configs = [
      ...common.tls_certificate_sds_secret_configs ?? [],
      common.combined_validation_context?.validation_context_sds_secret_config,
    ];
    for (const config of configs) {
      const path = paths.get(config?.name ?? "");
      if (config && path) config.sds_config = { path_config_source: { path }, resource_api_version: ApiVersion.V3 };
    }
    return { ...chain, transport_socket: { ...socket, typed_config: any(TLS, context) } };
  });
  return { ...listener, filter_chains: chains ?? [] };
}

/** How a client talks to a socket. */
export interface Client {
  readonly socket: string;
  /** Absent: in the clear. */
  readonly tls?: ConnectionOptions;
}

/**
 * Sends bytes and reads until the other side ends, or `enough` accepts the answer. Rejects when the connection or
 * handshake is refused.
 */
export async function exchange(
  { socket: path, tls }: Client,
  bytes: string,
  enough: (got: string) => boolean = () => false,
): Promise<string> {
  const plain = await unixStream(path);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const stream: Duplex = tls
    ? connectTls({ socket: plain, rejectUnauthorized: false, ...tls }, () => stream.write(bytes))
    : plain;
  if (!tls) stream.write(bytes);
  let got = "";
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    got += text;
    if (enough(got)) stream.destroy();
  });
  stream.on("error", reject);
  stream.on("end", () => stream.destroy());
  plain.on("close", () => stream.destroy());
  stream.on("close", () => got === "" ? reject(new Error("closed without an answer")) : resolve(got));
  return await promise.finally(() => plain.destroy());
}

/** An HTTP/1.1 request. Returns the answer as text, head and body. */
export function request(client: Client, host: string, path: string, headers: string[] = []): Promise<string> {
  const lines = [`GET ${path} HTTP/1.1`, `Host: ${host}`, "Connection: close", ...headers];
  return exchange(client, lines.join("\r\n") + "\r\n\r\n", isWhole);
}

/** Envoy keeps a connection for a second after the last answer, so the client must recognize the end of the answer. */
export function isWhole(answer: string): boolean {
  const end = answer.indexOf("\r\n\r\n");
  if (end >= 0 && /\r\ntransfer-encoding: chunked/i.test(answer.slice(0, end))) return answer.endsWith("\r\n0\r\n\r\n");
  const length = Number(/\r\ncontent-length: (\d+)/.exec(answer)?.[1] ?? 0);
  return end >= 0 && answer.length - end - 4 >= length;
}
