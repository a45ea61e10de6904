/**
 * A client that speaks HTTP/3 alone: an Envoy that forwards requests from HTTP/1.1 over QUIC.
 *
 * Permissions: run (envoy), read and write (a temporary folder), net (loopback).
 * @module
 */
import http from "node:http";
import type { Certificate } from "../../certificates.ts";
import { startEnvoyProcess } from "../../../scripts/envoy.ts";
import { envoyPath } from "../../envoy/path.ts";

/** A caller and its trust. */
export interface Http3Caller {
  /** Name of the server. */
  readonly host: string;
  /** The authority of the server's certificate, as PEM. */
  readonly roots: string;
  /** Certificate of the caller. Default: none. */
  readonly own?: Certificate;
}

/** An answer over HTTP/3; "refused" where no connection came about. */
export type Http3Answer = { readonly status: number; readonly altSvc: string; readonly body: string } | "refused";

const TYPE = "type.googleapis.com/envoy.extensions";
const socket = (port_value: number) => ({ socket_address: { address: "127.0.0.1", port_value } });
const inline = (text: string) => ({ inline_string: text });

/**
 * Runs clients of the UDP port `to` of 127.0.0.1 by names, as long as `use` runs; the clients listen at the port `at`.
 */
export async function withHttp3<T extends string>(
  { at, to, callers }: { readonly at: number; readonly to: number; readonly callers: Readonly<Record<T, Http3Caller>> },
  use: (ask: (caller: T) => Promise<Http3Answer>) => Promise<void>,
): Promise<void> {
  const all = Object.entries<Http3Caller>(callers);
  const clusters = all.map(([name, caller]) => cluster(name, caller, to));
  const bootstrap = { static_resources: { listeners: [listener(at)], clusters } };
  await using envoy = await startEnvoyProcess({ binary: envoyPath()!, bootstrap });
  await envoy.ready([`127.0.0.1:${at}`]);
  await use((caller) => ask(at, caller, callers[caller].host));
}

/** Each request names its cluster, and gets a new connection. */
function listener(port: number): unknown {
  const route = { match: { prefix: "/" }, route: { cluster_header: "x-caller" } };
  const manager = {
    "@type": `${TYPE}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: "http3_client",
    route_config: { virtual_hosts: [{ name: "all", domains: ["*"], routes: [route] }] },
    http_filters: [{
      name: "envoy.filters.http.router",
      typed_config: { "@type": `${TYPE}.filters.http.router.v3.Router` },
    }],
  };
  const filters = [{ name: "envoy.filters.network.http_connection_manager", typed_config: manager }];
  return { name: "in", address: socket(port), filter_chains: [{ filters }] };
}

function cluster(name: string, { host, roots, own }: Http3Caller, port: number): unknown {
  const identity = own && { certificate_chain: inline(own.certificate), private_key: inline(own.key) };
  const upstream_tls_context = {
    sni: host,
    common_tls_context: {
      ...(identity ? { tls_certificates: [identity] } : {}),
      validation_context: {
        trusted_ca: inline(roots),
        match_typed_subject_alt_names: [{ san_type: "DNS", matcher: { exact: host } }],
      },
    },
  };
  const quic = `${TYPE}.transport_sockets.quic.v3.QuicUpstreamTransport`;
  const protocol = `${TYPE}.upstreams.http.v3.HttpProtocolOptions`;
  return {
    ...{ name, type: "STATIC", connect_timeout: "20s", max_requests_per_connection: 1 },
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: socket(port) } }] }],
    },
    transport_socket: {
      name: "envoy.transport_sockets.quic",
      typed_config: { "@type": quic, upstream_tls_context },
    },
    typed_extension_protocol_options: {
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        "@type": protocol,
        explicit_http_config: { http3_protocol_options: {} },
      },
    },
  };
}

function ask(port: number, caller: string, host: string): Promise<Http3Answer> {
  const { promise, resolve } = Promise.withResolvers<Http3Answer>();
  const headers = { host, "x-caller": caller };
  const request = http.get({ host: "127.0.0.1", port, headers, agent: false }, (response) => {
    let body = "";
    response.setEncoding("utf8").on("data", (text) => body += text);
    const { statusCode: status = 0, headers } = response;
    // The answer of the Envoy without a connection.
    const refused = status === 503 && headers["alt-svc"] === undefined;
    response.on("end", () => resolve(refused ? "refused" : { status, altSvc: `${headers["alt-svc"]}`, body }));
  });
  request.on("error", () => resolve("refused"));
  return promise;
}
