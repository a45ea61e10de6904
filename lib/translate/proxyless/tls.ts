/**
 * Mutual TLS of gRPC libraries. Certificate and authorities come from the certificate provider named `default` in the
 * library's bootstrap, which the agent writes.
 *
 * Format: gRFC A29, with the fields `tls_certificate_provider_instance` and `ca_certificate_provider_instance`.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { any } from "../../pb/codec.ts";
import { workloadNames } from "../cluster/server_names.ts";
import type { DestinationPlan } from "../destination/plan.ts";
import type { Reader } from "../reader/reader.ts";

type TransportSocket = envoy.config.core.v3.TransportSocket;
type CommonTlsContext = envoy.extensions.transport_sockets.tls.v3.CommonTlsContext;

/** The additions of TLS to a cluster. */
export interface ClientTls {
  readonly socket?: TransportSocket;
  /** The reason for sending nothing: the rule asks for something that a library cannot do. */
  readonly closed?: string;
}

/**
 * TLS of the connections of a cluster, by the destination rule. Without a rule, connections are plain, even to
 * endpoints that accept mutual TLS: sidecars in mode PERMISSIVE recognize mutual TLS by ALPN, and a library cannot
 * choose its ALPN.
 */
export function clientTls(read: Reader, { policy: { tls }, service }: DestinationPlan): ClientTls {
  if (tls === undefined || tls.mode === "DISABLE") return {};
  if (tls.mode !== "MESH_MUTUAL") {
    return {
      closed: `gRPC clients support only TLS of the mesh (ISTIO_MUTUAL), and the rule's tls.mode is ${tls.mode}`,
    };
  }
  const names = tls.subjectAltNames ?? workloadNames(read, service);
  const common_tls_context = certificates(names);
  return { socket: socket("UpstreamTlsContext", { common_tls_context }) };
}

/** A transport socket that requires a certificate of the mesh from every client. */
export function serverSocket(): TransportSocket {
  return socket("DownstreamTlsContext", {
    common_tls_context: certificates([]),
    require_client_certificate: { value: true },
  });
}

/**
 * @param names Accepted names in a server's certificate. Empty: any. Libraries check names only on the client's side.
 */
function certificates(names: readonly string[]): CommonTlsContext {
  return {
    tls_certificate_provider_instance: { instance_name: "default", certificate_name: "default" },
    combined_validation_context: {
      default_validation_context: {
        ca_certificate_provider_instance: { instance_name: "default", certificate_name: "ROOTCA" },
        // Libraries ignore the typed form, which would admit any server of the mesh.
        ...(names.length > 0 ? { match_subject_alt_names: names.map((exact) => ({ exact })) } : {}),
      },
    },
  };
}

/** Libraries accept the socket only under this name. */
function socket(type: "UpstreamTlsContext" | "DownstreamTlsContext", context: object): TransportSocket {
  const message = `envoy.extensions.transport_sockets.tls.v3.${type}` as const;
  return { name: "envoy.transport_sockets.tls", typed_config: any(message, context) };
}
