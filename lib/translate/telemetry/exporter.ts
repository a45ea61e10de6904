/**
 * Where loggers and tracers send to.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { ProviderHttpHeader } from "../../config/mesh/provider_types.ts";
import { duration } from "../../pb/wellknown.ts";
import type { ProviderCluster } from "../destination/provider_service.ts";
import type { Reader } from "../reader/reader.ts";
import { breaksLines } from "../values/wire_limits.ts";

/** A cluster, and the host that its requests name; absent: the cluster. */
export type ExportTarget = Pick<ProviderCluster, "cluster"> & Partial<ProviderCluster>;

/** A header with its value. */
interface HeaderValue {
  readonly key: string;
  readonly value: string;
}

/** Longest time of a report where the provider says none, ms: Envoy demands one. */
const REPORT_TIMEOUT_MS = 5000;

/** A service of gRPC. @param timeout ms; absent: none. */
export function grpcService(
  { cluster, hostname }: ExportTarget,
  timeout?: number,
  metadata: readonly HeaderValue[] = [],
): envoy.config.core.v3.GrpcService {
  return {
    envoy_grpc: { cluster_name: cluster, ...(hostname ? { authority: hostname } : {}) },
    ...(timeout === undefined ? {} : { timeout: duration(timeout) }),
    ...(metadata.length > 0 ? { initial_metadata: [...metadata] } : {}),
  };
}

/** A service of HTTP. @param timeout ms */
export function httpService(
  { cluster, hostname }: ProviderCluster,
  path: string,
  timeout: number = REPORT_TIMEOUT_MS,
  headers: readonly HeaderValue[] = [],
): envoy.config.core.v3.HttpService {
  const added = headers.map((header) => ({ header, append_action: 2 as const }));
  return {
    http_uri: { uri: `http://${hostname}/${path.replace(/^\/+/, "")}`, cluster, timeout: duration(timeout) },
    ...(added.length > 0 ? { request_headers_to_add: added } : {}),
  };
}

/**
 * The headers of a provider that have a value, their own or that of a variable of the server. A name or value that no
 * header can have would have the listener refused.
 */
export function exportHeaders(
  { settings }: Pick<Reader, "settings">,
  headers: readonly ProviderHttpHeader[] = [],
): HeaderValue[] {
  return headers.flatMap(({ name: key = "", value: own, envName }) => {
    const value = own ?? (envName ? settings.variable(envName) : undefined) ?? "";
    return key === "" || value === "" || breaksLines(key) || breaksLines(value) ? [] : [{ key, value }];
  });
}
