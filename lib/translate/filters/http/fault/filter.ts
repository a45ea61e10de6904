/**
 * Delays or aborts requests, as each route says.
 *
 * @module
 */
import type { envoy } from "../../../../../proto/gen/types.ts";
import { any } from "../../../../pb/codec.ts";

/** `envoy.filters.http.fault`, empty: routes carry the faults. */
export function faultFilter(): envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter {
  return { name: "envoy.filters.http.fault", typed_config: any("envoy.extensions.filters.http.fault.v3.HTTPFault") };
}
