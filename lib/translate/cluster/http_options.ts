/**
 * The HTTP versions of a cluster, with limits: the extension `envoy.extensions.upstreams.http.v3.HttpProtocolOptions`.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { ConnectionPoolSettings } from "../../config/kinds/common/schema.ts";
import type { MeshConfig } from "../../config/mesh/types.ts";
import { any } from "../../pb/codec.ts";
import { wrap } from "../../pb/wellknown.ts";
import type { Protocol } from "../../registry/types.ts";
import { aspect } from "../reader/aspect.ts";
import type { Reader } from "../reader/reader.ts";
import { commonHttpOptions } from "./connection_pool.ts";

type Cluster = envoy.config.cluster.v3.Cluster;
type HttpProtocolOptions = envoy.extensions.upstreams.http.v3.HttpProtocolOptions;
type Http1 = envoy.config.core.v3.Http1ProtocolOptions;

/** Key of the extension in `typed_extension_protocol_options`, and name of the message. */
export const HTTP_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/** HTTP version of upstream connections: a fixed version, or the version of the client's connection. */
export type UpstreamHttp = "http1" | "http2" | "client";

const http2: ReadonlySet<Protocol> = new Set(["HTTP2", "GRPC", "GRPC-Web"]);
const http: ReadonlySet<Protocol> = new Set(["HTTP", "HTTP_PROXY", ...http2]);

/**
 * The HTTP version of a cluster.
 *
 * @param outbound Whether the cluster is outbound. Only outbound connections are upgraded to HTTP/2.
 */
export function upstreamHttp(
  read: Reader,
  protocol: Protocol,
  pool: ConnectionPoolSettings | undefined,
  outbound: boolean,
): UpstreamHttp {
  if (pool?.http?.useClientProtocol) return "client";
  if (http2.has(protocol)) return "http2";
  if (outbound && upgrades(read.mesh(), protocol, pool)) return "http2";
  // A port without a protocol is sniffed, and the workload gets the HTTP version of the client. Gateways do not
  // sniff: a browser's HTTP/2 says nothing about the workload.
  return protocol === "Unsupported" && aspect(read, "sniffs") ? "client" : "http1";
}

/**
 * Whether connections are upgraded to HTTP/2. A policy on the destination counts for any port. The mesh's default
 * counts only for ports known as HTTP.
 */
function upgrades(mesh: MeshConfig, protocol: Protocol, pool: ConnectionPoolSettings | undefined): boolean {
  const policy = pool?.http?.h2UpgradePolicy ?? "DEFAULT";
  if (policy !== "DEFAULT") return policy === "UPGRADE";
  return http.has(protocol) && mesh.h2UpgradePolicy === "UPGRADE";
}

/** Further inputs of a cluster's options. */
export interface HttpOptionsInput {
  readonly protocol: Protocol;
  readonly version: UpstreamHttp;
  readonly pool: ConnectionPoolSettings | undefined;
  /** Send the request's host as SNI. */
  readonly autoSni?: boolean;
  /** Verify the server's certificate against the request's host. */
  readonly autoSanValidation?: boolean;
}

/** The extension as fields of a cluster. Empty when Envoy's defaults (HTTP/1.1, no limits) suffice. */
export function httpOptions(read: Reader, input: HttpOptionsInput): Cluster {
  const { protocol, version, pool } = input;
  const common = commonHttpOptions(pool);
  const preserveCase = (protocol === "Unsupported" || (http.has(protocol) && !http2.has(protocol))) &&
    read.proxyHeaders()?.preserveHttp1HeaderCase === true;
  const auto = input.autoSni || input.autoSanValidation;
  if (version === "http1" && !preserveCase && common === undefined && !auto) return {};
  const options: HttpProtocolOptions = {
    ...(common && { common_http_protocol_options: common }),
    ...(auto && {
      upstream_http_protocol_options: {
        ...(input.autoSni && { auto_sni: true }),
        ...(input.autoSanValidation && { auto_san_validation: true }),
      },
    }),
    ...versionOptions(version, preserveCase ? caseKeeping() : {}, pool?.http?.maxConcurrentStreams),
  };
  return { typed_extension_protocol_options: { [HTTP_OPTIONS]: any(HTTP_OPTIONS, options) } };
}

function versionOptions(version: UpstreamHttp, http1: Http1, streams: number | undefined): HttpProtocolOptions {
  const http2 = streams === undefined ? {} : { max_concurrent_streams: wrap(streams) };
  switch (version) {
    case "http1":
      return { explicit_http_config: { http_protocol_options: http1 } };
    case "http2":
      return { explicit_http_config: { http2_protocol_options: http2 } };
    case "client":
      return { use_downstream_protocol_config: { http_protocol_options: http1, http2_protocol_options: http2 } };
  }
}

/** HTTP/1.1 headers keep the letter case of the client or the workload. */
function caseKeeping(): Http1 {
  const name = "envoy.extensions.http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig";
  return {
    header_key_format: {
      stateful_formatter: {
        name: "envoy.http.stateful_header_formatters.preserve_case",
        typed_config: any(name, { forward_reason_phrase: false }),
      },
    },
  };
}
