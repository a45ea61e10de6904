/**
 * Delays or aborts requests, as each route says.
 *
 * @module
 */
import type { envoy } from "../../../../../proto/gen/types.ts";
import { any } from "../../../../pb/codec.ts";

/** `envoy.filters.http.fault`, without a fault of its own: routes carry it. */
export function faultFilter(): envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter {
  return { name: "envoy.filters.http.fault", typed_config: any("envoy.extensions.filters.http.fault.v3.HTTPFault") };
}
