/**
 * The destinations of loggers and tracers.
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
import type { ProviderHttpHeader } from "../../config/mesh/provider_schema.ts";
import { duration } from "../../pb/wellknown.ts";
import type { ProviderCluster } from "../destination/provider_service.ts";
import type { Reader } from "../reader/reader.ts";

/** A cluster with the host for requests. Absent host: the cluster's name. */
export type ExportTarget = Pick<ProviderCluster, "cluster"> & Partial<ProviderCluster>;

/** A header with a value. */
interface HeaderValue {
  readonly key: string;
  readonly value: string;
}

/** Default time limit of a report, ms. Envoy requires a limit. */
const REPORT_TIMEOUT_MS = 5000;

/**
 * A gRPC service.
 *
 * @param timeout ms. Absent: none.
 */
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

/**
 * An HTTP service.
 *
 * @param timeout ms.
 */
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

/** The headers of a provider that have a value, either their own or from a variable of the server. */
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
