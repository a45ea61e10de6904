/**
 * Announces HTTP in the TLS handshake with a sidecar, for clusters whose ports declare no protocol and may also carry
 * bytes. Without the announcement the sidecar treats requests as bytes. (Istio's own build has the filter `istio.alpn`
 * for the same purpose.)
 *
 * @module
 */
import type { envoy } from "../../../../../proto/gen/types.ts";
import { any } from "../../../../pb/codec.ts";
import { HTTP_ALPN_FIELD } from "../../../message/http_alpn.ts";

/** Name of the filter. */
export const UPSTREAM_ALPN = "envoy.filters.http.set_filter_state";

/** Offers the protocols from the metadata of the request's cluster, instead of the protocols in the TLS context. */
export function upstreamAlpnFilter(): envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter {
  const config: envoy.extensions.filters.http.set_filter_state.v3.Config = {
    on_request_headers: [{
      object_key: "envoy.network.application_protocols",
      format_string: {
        text_format_source: { inline_string: `%METADATA(CLUSTER:istio:${HTTP_ALPN_FIELD})%` },
        omit_empty_values: true,
      },
      skip_if_empty: true,
    }],
  };
  return {
    name: UPSTREAM_ALPN,
    typed_config: any("envoy.extensions.filters.http.set_filter_state.v3.Config", config),
  };
}
