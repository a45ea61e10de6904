/**
 * Dials the workload from the client's address (TPROXY), so the workload sees the client's address.
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import { any } from "../../../pb/codec.ts";

/** Mark of packets from the proxy. The redirection rules let marked packets pass (Istio's value). */
const ORIGINAL_SRC_MARK = 1337;

/** `envoy.filters.listener.original_src`. */
export function originalSrcFilter(): envoy.config.listener.v3.ListenerFilter {
  const config: envoy.extensions.filters.listener.original_src.v3.OriginalSrc = { mark: ORIGINAL_SRC_MARK };
  return {
    name: "envoy.filters.listener.original_src",
    typed_config: any("envoy.extensions.filters.listener.original_src.v3.OriginalSrc", config),
  };
}
