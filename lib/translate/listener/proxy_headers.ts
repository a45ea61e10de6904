/**
 * Headers that a proxy adds, and the treatment of headers about the client.
 *
 * @module
 */
import { HttpConnectionManager_ForwardClientCertDetails as Forward } from "../../../proto/gen/enums.ts";
import { HttpConnectionManager_ServerHeaderTransformation as ServerHeader } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { ProxyHeaders } from "../../config/mesh/types.ts";
import { wrap } from "../../pb/wellknown.ts";

type HttpConnectionManager = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;

/** Value of the `server` header in answers of inbound listeners. */
export const SERVER_NAME = "mesh-proxy";

/** Server name and request ID, for every HTTP connection manager. Outbound listeners keep Envoy's own server name. */
export function ownHeaders(
  headers: ProxyHeaders | undefined,
  serverName: string,
): Pick<HttpConnectionManager, "server_name" | "server_header_transformation" | "generate_request_id"> {
  const hidden = headers?.server?.disabled === true;
  const name = hidden ? "" : headers?.server?.value || serverName;
  return {
    ...(name === "" ? {} : { server_name: name }),
    ...(hidden ? { server_header_transformation: ServerHeader.PASS_THROUGH } : {}),
    ...(headers?.requestId?.disabled ? { generate_request_id: wrap(false) } : {}),
  };
}

/**
 * Settings of an inbound listener for `x-forwarded-client-cert`. By default the listener appends the client's
 * certificate, with subject, URI and DNS names.
 */
export function clientCertHeaders(
  headers: ProxyHeaders | undefined,
): Pick<HttpConnectionManager, "forward_client_cert_details" | "set_current_client_cert_details"> {
  const written = headers?.forwardedClientCert ?? "UNDEFINED";
  const details = headers?.setCurrentClientCertDetails ?? {};
  const { subject = true, uri = true, dns = true, cert = false, chain = false } = details;
  return {
    forward_client_cert_details: Forward[written === "UNDEFINED" ? "APPEND_FORWARD" : written],
    set_current_client_cert_details: {
      subject: wrap(subject),
      ...(uri ? { uri } : {}),
      ...(dns ? { dns } : {}),
      ...(cert ? { cert } : {}),
      ...(chain ? { chain } : {}),
    },
  };
}
