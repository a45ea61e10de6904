/**
 * Failures of the sockets for the proxy, in the log and as metrics.
 *
 * @module
 */
import type { GrpcServerOptions } from "../../grpc/server.ts";
import type { Log } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";

/** Options of a server that report defects, and clients that stopped reading. */
export function failureReports(
  { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
): Required<Pick<GrpcServerOptions, "onError" | "onClosing">> {
  return {
    onError(error, where) {
      metrics.counter("pilot_total_xds_internal_errors").inc();
      log.scope("xdsproxy").error("internal error on a call", { where, error });
    },
    onClosing(reason) {
      if (reason !== "stall") return;
      metrics.counter("pilot_xds_write_timeout").inc();
      log.scope("xdsproxy").warn("a client does not read what it was sent: its connection is closed");
    },
  };
}
