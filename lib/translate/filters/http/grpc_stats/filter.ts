/**
 * Counts gRPC calls by status, and keeps the message counts for access logs and telemetry.
 *
 * @module
 */
import type { envoy } from "../../../../../proto/gen/types.ts";
import { any } from "../../../../pb/codec.ts";
import { wrap } from "../../../../pb/wellknown.ts";

/** `envoy.filters.http.grpc_stats`. Statistics are per cluster, not per method: methods are an unbounded set. */
export function grpcStatsFilter(): envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter {
  const config: envoy.extensions.filters.http.grpc_stats.v3.FilterConfig = {
    emit_filter_state: true,
    stats_for_all_methods: wrap(false),
  };
  return {
    name: "envoy.filters.http.grpc_stats",
    typed_config: any("envoy.extensions.filters.http.grpc_stats.v3.FilterConfig", config),
  };
}
