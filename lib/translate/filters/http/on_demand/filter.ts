/**
 * Asks for the virtual host of a request's host, and for the request's cluster, if the proxy has none.
 *
 * @module
 */
import type { envoy } from "../../../../../proto/gen/types.ts";
import { any } from "../../../../pb/codec.ts";
import { duration } from "../../../../pb/wellknown.ts";
import type { Reader } from "../../../reader/reader.ts";
import { ADS } from "../../on_demand.ts";

/** `envoy.filters.http.on_demand`. */
export function onDemandFilter(read: Reader): envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter {
  return {
    name: "envoy.filters.http.on_demand",
    typed_config: any("envoy.extensions.filters.http.on_demand.v3.OnDemand", {
      odcds: { source: ADS, timeout: duration(read.settings.askTimeoutMs) },
    }),
  };
}
