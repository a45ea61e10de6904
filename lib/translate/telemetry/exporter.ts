/**
 * Where loggers and tracers send to.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import {
  exportHeaderProblem,
  isReportTime,
  type ReportProtocol,
  sentValue,
} from "../../config/mesh/export_settings.ts";
import type { ProviderHttpHeader } from "../../config/mesh/provider_types.ts";
import { duration } from "../../pb/wellknown.ts";
import type { ProviderCluster } from "../destination/provider_service.ts";
import type { Reader } from "../reader/reader.ts";

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
  const takenTime = timeout !== undefined && isReportTime(timeout);
  return {
    envoy_grpc: { cluster_name: cluster, ...(hostname ? { authority: hostname } : {}) },
    ...(takenTime ? { timeout: duration(timeout) } : {}),
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
  const time = isReportTime(timeout) ? timeout : REPORT_TIMEOUT_MS;
  const added = headers.map((header) => ({ header, append_action: 2 as const }));
  return {
    http_uri: { uri: `http://${hostname}/${path.replace(/^\/+/, "")}`, cluster, timeout: duration(time) },
    ...(added.length > 0 ? { request_headers_to_add: added } : {}),
  };
}

/** The headers of a provider that have a value, their own or that of a variable of the server. */
export function exportHeaders(
  { settings }: Pick<Reader, "settings">,
  headers: readonly ProviderHttpHeader[] = [],
  protocol: ReportProtocol = "http",
): HeaderValue[] {
  return headers.flatMap((header) => {
    if (exportHeaderProblem(header, protocol) !== undefined) return [];
    const { name: key = "", value: own, envName } = header;
    const value = own === undefined
      ? sentValue((envName && settings.variable(envName)) || "", "variable", protocol)
      : sentValue(own, "own", protocol);
    return value === undefined ? [] : [{ key, value }];
  });
}
