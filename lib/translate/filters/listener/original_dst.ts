/**
 * Restores the dialled address of a connection that iptables redirected.
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import { any } from "../../../pb/codec.ts";

/** `envoy.filters.listener.original_dst`. */
export function originalDstFilter(): envoy.config.listener.v3.ListenerFilter {
  return {
    name: "envoy.filters.listener.original_dst",
    typed_config: any("envoy.extensions.filters.listener.original_dst.v3.OriginalDst"),
  };
}
