/**
 * Where loggers and tracers send to.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { ProviderHttpHeader } from "../../config/mesh/provider_types.ts";
import { duration } from "../../pb/wellknown.ts";
import type { ProviderCluster } from "../destination/provider_service.ts";
import { breaksLines } from "../values/wire_limits.ts";

/** A cluster, and the host that its requests name; absent: the cluster. */
export type ExportTarget = Pick<ProviderCluster, "cluster"> & Partial<ProviderCluster>;

/** Longest time of a report where the provider says none, ms: Envoy demands one. */
const REPORT_TIMEOUT_MS = 5000;

/** A service of gRPC. @param timeout ms; absent: none. */
export function grpcService(
  { cluster, hostname }: ExportTarget,
  timeout?: number,
  metadata: readonly ProviderHttpHeader[] = [],
): envoy.config.core.v3.GrpcService {
  const initial_metadata = sendable(metadata);
  return {
    envoy_grpc: { cluster_name: cluster, ...(hostname ? { authority: hostname } : {}) },
    ...(timeout === undefined ? {} : { timeout: duration(timeout) }),
    ...(initial_metadata.length > 0 ? { initial_metadata } : {}),
  };
}

/** A service of HTTP. @param timeout ms */
export function httpService(
  { cluster, hostname }: ProviderCluster,
  path: string,
  timeout: number = REPORT_TIMEOUT_MS,
  headers: readonly ProviderHttpHeader[] = [],
): envoy.config.core.v3.HttpService {
  const added = sendable(headers).map((header) => ({ header, append_action: 2 as const }));
  return {
    http_uri: { uri: `http://${hostname}/${path.replace(/^\/+/, "")}`, cluster, timeout: duration(timeout) },
    ...(added.length > 0 ? { request_headers_to_add: added } : {}),
  };
}

/** Headers with a value; a name or value that no header can have would have the listener refused. */
function sendable(headers: readonly ProviderHttpHeader[]): { key: string; value: string }[] {
  return headers.flatMap(({ name: key = "", value = "" }) =>
    key === "" || value === "" || breaksLines(key) || breaksLines(value) ? [] : [{ key, value }]
  );
}
