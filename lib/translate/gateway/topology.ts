/**
 * The proxies in front of a gateway: how many it trusts, and which header with a client certificate it accepts.
 *
 * @module
 */
import { HttpConnectionManager_ForwardClientCertDetails as Forward } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { GatewayTopology } from "../../config/mesh/types.ts";
import { wrap } from "../../pb/wellknown.ts";
import type { Reader } from "../reader/reader.ts";

type HttpConnectionManager = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;

/** The topology in force: of the proxy's own settings, else of the mesh's. */
export function gatewayTopology(read: Reader): GatewayTopology | undefined {
  const own = read.derived("gatewayTopology", (t) => t.gatewayTopology ? JSON.stringify(t.gatewayTopology) : "");
  return own === "" ? read.mesh().defaultConfig.gatewayTopology : JSON.parse(own) as GatewayTopology;
}

/**
 * How a gateway determines its client. By default it trusts no header: the header `x-forwarded-client-cert` of a client
 * is replaced by the certificate that it really showed.
 */
export function clientHeaders(
  topology: GatewayTopology | undefined,
): Pick<
  HttpConnectionManager,
  "xff_num_trusted_hops" | "forward_client_cert_details" | "set_current_client_cert_details"
> {
  const hops = topology?.numTrustedProxies ?? 0;
  const written = topology?.forwardClientCertDetails ?? "UNDEFINED";
  const forward = written === "UNDEFINED" ? "SANITIZE_SET" : written;
  const appends = forward === "SANITIZE_SET" || forward === "APPEND_FORWARD";
  return {
    ...(hops > 0 ? { xff_num_trusted_hops: hops } : {}),
    forward_client_cert_details: Forward[forward],
    ...(appends ? { set_current_client_cert_details: { subject: wrap(true), cert: true, dns: true, uri: true } } : {}),
  };
}
