/**
 * The server's side of mutual TLS between workloads: a sidecar's requirements for callers of its workload.
 *
 * @module
 */
import { SubjectAltNameMatcher_SanType as SanType } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { MeshConfig } from "../../config/mesh/types.ts";
import { any } from "../../pb/codec.ts";
import { wrap } from "../../pb/wellknown.ts";
import type { Reader } from "../reader/reader.ts";
import { meshTlsParameters, type TlsParameters } from "./parameters.ts";
import type { Identity } from "./secret_source.ts";

/** Protocols inside TLS, for clients other than sidecars. (Protocols of sidecars only select the filter chain.) */
export const INNER_ALPN: readonly string[] = ["h2", "http/1.1"];

/** The offer of TLS to clients. */
export interface ServerTlsOffer {
  /** Absent: the parameters of mutual TLS between workloads. */
  readonly parameters?: TlsParameters;
  /** Empty: none, the content is carried as bytes. */
  readonly alpn: readonly string[];
}

/** A transport socket that requires a certificate of the mesh from every client. */
export function meshServerSocket(
  read: Reader,
  identity: Identity,
  { alpn, parameters = meshTlsParameters(read) }: ServerTlsOffer,
): envoy.config.core.v3.TransportSocket {
  const context: envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext = {
    common_tls_context: {
      tls_params: parameters,
      ...(alpn.length > 0 ? { alpn_protocols: [...alpn] } : {}),
      tls_certificate_sds_secret_configs: [identity.certificate.config],
      combined_validation_context: {
        default_validation_context: trustedNames(read),
        validation_context_sds_secret_config: identity.authorities.config,
      },
    },
    require_client_certificate: wrap(true),
  };
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: any("envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", context),
  };
}

/**
 * Requires a trust domain of the mesh in certificates, unless the setting accepts every certificate of the mesh's
 * authorities.
 */
export function trustedNames(read: Reader): envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext {
  if (read.settings.skipValidateTrustDomain) return {};
  return {
    match_typed_subject_alt_names: trustDomains(read.mesh()).map((domain) => ({
      san_type: SanType.URI,
      matcher: { prefix: `spiffe://${domain}/` },
    })),
  };
}

/** The mesh's own trust domain, its aliases, and the trust domains of further authorities, each once. */
export function trustDomains({ trustDomain, trustDomainAliases, caCertificates = [] }: MeshConfig): string[] {
  const further = caCertificates.flatMap(({ trustDomains = [] }) => trustDomains);
  return [...new Set([trustDomain, ...trustDomainAliases, ...further])].filter((domain) => domain !== "");
}
