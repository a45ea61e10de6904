/**
 * Headers that a proxy adds, and the treatment of headers about the client.
 *
 * @module
 */
import { HttpConnectionManager_ForwardClientCertDetails as Forward } from "../../../proto/gen/enums.ts";
import { HttpConnectionManager_ServerHeaderTransformation as ServerHeader } from "../../../proto/gen/enums.ts";
import { HeaderValueOption_HeaderAppendAction as AppendAction } from "../../../proto/gen/enums.ts";
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

/**
 * Envoy's flag of a request for which no connection was established. An established connection that broke has another
 * flag (`UC`), because the workload may have acted on the request.
 */
const NO_CONNECTION = "UF";

const UNAVAILABLE = { key: "grpc-status", value: "14" } as const;

/**
 * Marks the answers of an inbound proxy that could not connect to its workload.
 *
 * A server that closes its port at SIGTERM is called until its callers know of its end. The server has seen nothing of
 * the request, and another replica may answer; only the inbound proxy knows this. The default retry condition
 * `unavailable` of callers reads the header in answers to all requests.
 */
export const MARKS_UNREACHED: Pick<HttpConnectionManager, "local_reply_config"> = {
  local_reply_config: {
    mappers: [{
      filter: { response_flag_filter: { flags: [NO_CONNECTION] } },
      headers_to_add: [{ header: UNAVAILABLE, append_action: AppendAction.OVERWRITE_IF_EXISTS_OR_ADD }],
    }],
  },
};
