/**
 * Routes without a virtual service: everything goes to one cluster.
 *
 * @module
 */
import { duration, wrap } from "../../pb/wellknown.ts";
import type { Protocol } from "../../registry/types.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { Reader } from "../reader/reader.ts";
import type { Hashing, RouteTarget } from "./destination.ts";
import { dialledByName } from "./dialled_by_name.ts";
import { retryPolicy } from "./retry.ts";

type Route = envoy.config.route.v3.Route;
type RouteAction = envoy.config.route.v3.RouteAction;

/** Name of the routes in access logs. */
const DEFAULT_ROUTE = "default";

/** Outbound: no timeout, the mesh's retries, hashing as the destination rule says. */
export function defaultOutboundRoute(
  read: Reader,
  target: RouteTarget,
  hash: Hashing | undefined,
  operation: string,
): Route {
  const action: RouteAction = { cluster: target.cluster, timeout: duration(0) };
  const retry = retryPolicy(read.mesh().defaultHttpRetryPolicy, hash !== undefined);
  if (retry) action.retry_policy = retry;
  if (hash) action.hash_policy = [hash.policy];
  const perFilter = dialledByName(read, target, undefined);
  const route = everything(action, operation);
  return Object.keys(perFilter).length > 0 ? { ...route, typed_per_filter_config: perFilter } : route;
}

/**
 * Inbound: no timeout, even if a client asks for a timeout. Two retries if the workload closed a kept connection before
 * accepting the request. gRPC clients do such retries themselves, and streams must not be sent twice.
 */
export function defaultInboundRoute(cluster: string, operation: string, protocol: Protocol): Route {
  const action: RouteAction = {
    cluster,
    timeout: duration(0),
    max_stream_duration: { max_stream_duration: duration(0), grpc_timeout_header_max: duration(0) },
  };
  const grpc = protocol === "GRPC" || protocol === "GRPC-Web";
  if (!grpc) action.retry_policy = { retry_on: "reset-before-request", num_retries: wrap(2) };
  return everything(action, operation);
}

function everything(route: RouteAction, operation: string): Route {
  return { name: DEFAULT_ROUTE, match: { prefix: "/" }, route, decorator: { operation } };
}
