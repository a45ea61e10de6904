/**
 * Recognizes HTTP by the first bytes of a connection, for filter chains with a match on `http/1.1` or `h2c`.
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import { any } from "../../../pb/codec.ts";

/** `envoy.filters.listener.http_inspector`. */
export function httpInspectorFilter(): envoy.config.listener.v3.ListenerFilter {
  return {
    name: "envoy.filters.listener.http_inspector",
    typed_config: any("envoy.extensions.filters.listener.http_inspector.v3.HttpInspector"),
  };
}
