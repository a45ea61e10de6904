/**
 * Keeps a client on the same endpoint by a cookie or a header. Inactive unless a route configures the filter.
 *
 * @module
 */
import type { envoy } from "../../../../../proto/gen/types.ts";
import { any } from "../../../../pb/codec.ts";

/** `envoy.filters.http.stateful_session`, empty: routes of services with a session label carry the configuration. */
export function statefulSessionFilter(): envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter {
  return {
    name: "envoy.filters.http.stateful_session",
    typed_config: any("envoy.extensions.filters.http.stateful_session.v3.StatefulSession"),
  };
}
