/**
 * Answers cross-origin preflights and adds cross-origin headers, by the policy of each route.
 *
 * @module
 */
import type { envoy } from "../../../../../proto/gen/types.ts";
import { any } from "../../../../pb/codec.ts";

/** `envoy.filters.http.cors`, empty: routes carry the policies. */
export function corsFilter(): envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter {
  return { name: "envoy.filters.http.cors", typed_config: any("envoy.extensions.filters.http.cors.v3.Cors") };
}
