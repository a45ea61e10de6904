/**
 * TLS that a listener ends with certificates from files, as a Sidecar's ingress asks for it.
 *
 * Permissions: none (Envoy reads the files).
 *
 * @module
 */
import { TlsParameters_TlsProtocol as TlsVersion } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { ServerTlsSettings, TlsCertificate, TlsProtocol } from "../../config/kinds/common/types.ts";
import type { MeshConfig } from "../../config/mesh/types.ts";
import { any } from "../../pb/codec.ts";
import { wrap } from "../../pb/wellknown.ts";
import { exactNames } from "../cluster/san.ts";
import type { Reader } from "../reader.ts";

type Tls = envoy.extensions.transport_sockets.tls.v3.CommonTlsContext;
type Validation = envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext;

const VERSIONS: Readonly<Record<TlsProtocol, keyof typeof TlsVersion>> = {
  TLS_AUTO: "TLS_AUTO",
  TLSV1_0: "TLSv1_0",
  TLSV1_1: "TLSv1_1",
  TLSV1_2: "TLSv1_2",
  TLSV1_3: "TLSv1_3",
};

/** The transport socket of a chain that ends TLS: modes SIMPLE, MUTUAL and OPTIONAL_MUTUAL. */
export function serverTlsSocket(read: Reader, tls: ServerTlsSettings): envoy.config.core.v3.TransportSocket {
  const context: envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext = {
    common_tls_context: {
      tls_params: parameters(tls, read.mesh()),
      alpn_protocols: ["h2", "http/1.1"],
      tls_certificates: certificates(tls),
      ...validation(tls),
    },
    require_client_certificate: wrap(tls.mode === "MUTUAL"),
  };
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: any("envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", context),
  };
}

/** The port's own parameters before those of the mesh. */
function parameters(
  tls: ServerTlsSettings,
  mesh: MeshConfig,
): envoy.extensions.transport_sockets.tls.v3.TlsParameters {
  const defaults = mesh.tlsDefaults;
  const ciphers = tls.cipherSuites?.length ? tls.cipherSuites : defaults?.cipherSuites ?? [];
  const least = tls.minProtocolVersion === "TLS_AUTO"
    ? defaults?.minProtocolVersion ?? "TLS_AUTO"
    : tls.minProtocolVersion;
  return {
    // Below TLS 1.2 only where the user says so.
    tls_minimum_protocol_version: TlsVersion[VERSIONS[least === "TLS_AUTO" ? "TLSV1_2" : least]],
    ...(tls.maxProtocolVersion === "TLS_AUTO"
      ? {}
      : { tls_maximum_protocol_version: TlsVersion[VERSIONS[tls.maxProtocolVersion]] }),
    ...(ciphers.length > 0 ? { cipher_suites: [...ciphers] } : {}),
    ...(defaults?.ecdhCurves?.length ? { ecdh_curves: [...defaults.ecdhCurves] } : {}),
  };
}

function certificates(tls: ServerTlsSettings): NonNullable<Tls["tls_certificates"]> {
  const written: readonly TlsCertificate[] = tls.tlsCertificates?.length ? tls.tlsCertificates : [tls];
  return written.map(({ serverCertificate = "", privateKey = "" }) => ({
    certificate_chain: { filename: serverCertificate },
    private_key: { filename: privateKey },
  }));
}

function validation(tls: ServerTlsSettings): Pick<Tls, "validation_context"> {
  if (tls.mode !== "MUTUAL" && tls.mode !== "OPTIONAL_MUTUAL") return {};
  const context: Validation = {
    ...(tls.caCertificates ? { trusted_ca: { filename: tls.caCertificates } } : {}),
    ...(tls.caCrl ? { crl: { filename: tls.caCrl } } : {}),
    ...(tls.subjectAltNames?.length ? { match_typed_subject_alt_names: exactNames(tls.subjectAltNames) } : {}),
    ...(tls.verifyCertificateSpki?.length ? { verify_certificate_spki: [...tls.verifyCertificateSpki] } : {}),
    ...(tls.verifyCertificateHash?.length ? { verify_certificate_hash: [...tls.verifyCertificateHash] } : {}),
  };
  return { validation_context: context };
}
