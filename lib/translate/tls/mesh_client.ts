/**
 * The client's side of mutual TLS between workloads: the certificate that a proxy shows, and the requirements for the
 * server's certificate.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { any } from "../../pb/codec.ts";
import { struct } from "../../pb/wellknown.ts";
import { exactNames } from "./san.ts";
import type { Reader } from "../reader/reader.ts";
import { meshTlsParameters, type TlsParameters } from "./parameters.ts";
import type { ClientIdentity } from "./secret_source.ts";

type TransportSocket = envoy.config.core.v3.TransportSocket;
type CommonTlsContext = envoy.extensions.transport_sockets.tls.v3.CommonTlsContext;
type CertificateValidationContext = envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext;
type TransportSocketMatch = envoy.config.cluster.v3.Cluster.TransportSocketMatch;

/** Key and value in endpoint metadata that select the transport socket of an endpoint. */
export const TLS_MODE = { key: "tlsMode", value: "istio" } as const;

/** A transport socket of plain connections. */
export const RAW_SOCKET: TransportSocket = {
  name: "envoy.transport_sockets.raw_buffer",
  typed_config: any("envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer", {}),
};

/** Differences between clusters. */
export interface MeshClientTls {
  readonly sni?: string;
  /** The requirements for a server's certificate beside an authority of the mesh. */
  readonly trusted: CertificateValidationContext;
  /** Absent: the parameters of mutual TLS between workloads. */
  readonly parameters?: TlsParameters;
  /** Offered protocols, by which sidecars recognize the kind of a connection. */
  readonly alpn: readonly string[];
}

/** Accepts a certificate with any of the names. Without names, accepts any certificate of the mesh. */
export function oneOfNames(names: readonly string[]): CertificateValidationContext {
  return names.length > 0 ? { match_typed_subject_alt_names: exactNames(names) } : {};
}

/** A transport socket that shows the workload's certificate and verifies the server's. */
export function meshClientSocket(read: Reader, identity: ClientIdentity, tls: MeshClientTls): TransportSocket {
  const context: envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext = {
    common_tls_context: {
      tls_params: tls.parameters ?? meshTlsParameters(read),
      alpn_protocols: [...tls.alpn],
      ...credentials(identity, tls.trusted),
    },
    ...(tls.sni !== undefined && { sni: tls.sni }),
  };
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: any("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", context),
  };
}

function credentials(identity: ClientIdentity, trusted: CertificateValidationContext): CommonTlsContext {
  if ("files" in identity) {
    const { chain, key, root } = identity.files;
    return {
      tls_certificates: [{ certificate_chain: { filename: chain }, private_key: { filename: key } }],
      validation_context: { trusted_ca: { filename: root }, ...trusted },
    };
  }
  return {
    tls_certificate_sds_secret_configs: [identity.certificate.config],
    combined_validation_context: {
      default_validation_context: trusted,
      validation_context_sds_secret_config: identity.authorities.config,
    },
  };
}

/** Automatic mutual TLS: the socket for endpoints that accept mutual TLS, plain connections for the others. */
export function automaticSockets(socket: TransportSocket): TransportSocketMatch[] {
  return [
    { name: "tlsMode-istio", match: struct({ [TLS_MODE.key]: TLS_MODE.value }), transport_socket: socket },
    PLAIN_OTHERWISE,
  ];
}

/** Plain connections to endpoints without a mark. */
export const PLAIN_OTHERWISE: TransportSocketMatch = {
  name: "tlsMode-disabled",
  match: struct({}),
  transport_socket: RAW_SOCKET,
};

/**
 * Server name of a cluster, `outbound_.80_.v1_.reviews.default.svc.cluster.local`. Unlike the cluster's name, this form
 * is legal in a handshake.
 */
export function clusterSni(port: number, subset: string, host: string): string {
  return `outbound_.${port}_.${subset}_.${host}`;
}
