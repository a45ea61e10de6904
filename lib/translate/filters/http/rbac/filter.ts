/**
 * Admits or refuses requests by rules.
 *
 * @module
 */
import type { envoy } from "../../../../../proto/gen/types.ts";
import { any } from "../../../../pb/codec.ts";

/** Name of the filter. */
export const HTTP_RBAC = "envoy.filters.http.rbac";

export function httpRbacFilter(
  config: envoy.extensions.filters.http.rbac.v3.RBAC,
): envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter {
  return { name: HTTP_RBAC, typed_config: any("envoy.extensions.filters.http.rbac.v3.RBAC", config) };
}
