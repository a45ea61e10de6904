/**
 * The router, the last HTTP filter: forwards each request by its route.
 *
 * @module
 */
import type { envoy } from "../../../../../proto/gen/types.ts";
import { any } from "../../../../pb/codec.ts";

/** Differences between listeners. */
export interface RouterOptions {
  /** No `x-envoy-*` headers in answers and upstream requests. Default false. */
  readonly suppressEnvoyHeaders?: boolean;
  /** A separate span for the upstream request (gateways). Default false. */
  readonly startChildSpan?: boolean;
}

/** `envoy.filters.http.router`. */
export function routerFilter(
  options: RouterOptions = {},
): envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter {
  const config: envoy.extensions.filters.http.router.v3.Router = {
    ...(options.suppressEnvoyHeaders ? { suppress_envoy_headers: true } : {}),
    ...(options.startChildSpan ? { start_child_span: true } : {}),
  };
  return {
    name: "envoy.filters.http.router",
    typed_config: any("envoy.extensions.filters.http.router.v3.Router", config),
  };
}
