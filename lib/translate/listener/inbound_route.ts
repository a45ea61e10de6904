/**
 * Routes of an inbound listener: everything to the workload, without a timeout of the proxy's own.
 *
 * Permissions: none.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { duration, wrap } from "../../pb/wellknown.ts";
import type { Protocol } from "../../registry/types.ts";

/** What inbound routes are for. */
export interface InboundRouteTarget {
  readonly cluster: string;
  readonly host: string;
  readonly port: number;
  readonly protocol: Protocol;
}

/** The route configuration, named like its cluster. */
export function inboundRouteConfiguration(target: InboundRouteTarget): envoy.config.route.v3.RouteConfiguration {
  const grpc = target.protocol === "GRPC" || target.protocol === "GRPC-Web";
  // A stream of gRPC may be long past its beginning: sending it again would be another call.
  const retry = grpc ? {} : { retry_policy: { retry_on: "reset-before-request", num_retries: wrap(2) } };
  const unlimited = { timeout: duration(0), max_stream_duration: noStreamLimit() };
  return {
    name: target.cluster,
    validate_clusters: wrap(false),
    virtual_hosts: [{
      name: `inbound|http|${target.port}`,
      domains: ["*"],
      routes: [{
        name: "default",
        match: { prefix: "/" },
        decorator: { operation: `${target.host}:${target.port}/*` },
        route: { cluster: target.cluster, ...unlimited, ...retry },
      }],
    }],
  };
}

function noStreamLimit(): envoy.config.route.v3.RouteAction.MaxStreamDuration {
  return { max_stream_duration: duration(0), grpc_timeout_header_max: duration(0) };
}
