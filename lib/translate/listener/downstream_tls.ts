/**
 * TLS that a proxy ends, at a gateway or for its workload, with certificates from files of its own machine.
 *
 * Envoy reads the files itself, so a stock proxy needs nothing beside it; see `file_secret.ts`. Certificates by name
 * (`credentialName`) and those of the mesh (`MESH_MUTUAL`) need a server of secrets; a server that asks for them is
 * left out with the reason, because a port that speaks something else than it should is worse than a closed one.
 *
 * @module
 */
import { TlsParameters_TlsProtocol as Version } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { ServerTlsSettings, TlsCertificate, TlsProtocol } from "../../config/kinds/common/types.ts";
import type { TlsConfig } from "../../config/mesh/types.ts";
import { CIPHER_SUITES } from "../../config/validation/tls.ts";
import { any } from "../../pb/codec.ts";
import { wrap } from "../../pb/wellknown.ts";
import { exactNames } from "../cluster/san.ts";
import { fileAuthority, fileCertificate, type FileSecret, secretConfig } from "../message/file_secret.ts";

type CommonTls = envoy.extensions.transport_sockets.tls.v3.CommonTlsContext;
type CertificateValidationContext =
  envoy.extensions.transport_sockets.tls.v3.CommonTlsContext.CombinedCertificateValidationContext;
type Parameters = envoy.extensions.transport_sockets.tls.v3.TlsParameters;

/** Why TLS cannot be ended as asked. */
export type TlsRefusal = "certificateByName" | "meshCertificate" | "missingFiles";

/** The transport socket of a chain, or why there is none. */
export type DownstreamTls =
  | {
    readonly socket: envoy.config.core.v3.TransportSocket;
    /** Secrets that the socket asks for by name. */
    readonly secrets: readonly FileSecret[];
    readonly ignoredCipherSuites: readonly string[];
  }
  | { readonly refusal: TlsRefusal; readonly why: string };

/** Application protocols offered: HTTP clients choose HTTP/2, all others ignore it. */
const ALPN = ["h2", "http/1.1"];

const VERSIONS: Readonly<Record<TlsProtocol, (typeof Version)[keyof typeof Version]>> = {
  TLS_AUTO: Version.TLS_AUTO,
  TLSV1_0: Version.TLSv1_0,
  TLSV1_1: Version.TLSv1_1,
  TLSV1_2: Version.TLSv1_2,
  TLSV1_3: Version.TLSv1_3,
};

/**
 * The TLS side of a server in mode SIMPLE (the client stays anonymous), MUTUAL (it must show a certificate) or
 * OPTIONAL_MUTUAL (it may).
 *
 * @param defaults `tlsDefaults` of the mesh configuration: hold where the server says nothing.
 */
export function downstreamTls(tls: ServerTlsSettings, defaults: TlsConfig | undefined): DownstreamTls {
  if (tls.mode === "MESH_MUTUAL") {
    return { refusal: "meshCertificate", why: "tls mode MESH_MUTUAL waits for certificates of the mesh" };
  }
  const name = tls.credentialName ?? tls.credentialNames?.join(", ");
  if (name !== undefined) {
    return {
      refusal: "certificateByName",
      why: `no server of secrets yet for tls.credentialName "${name}"; use files`,
    };
  }
  const files = tls.tlsCertificates?.length ? tls.tlsCertificates : [tls];
  const certificates = files.flatMap(certificate);
  const verifies = tls.mode === "MUTUAL" || tls.mode === "OPTIONAL_MUTUAL";
  if (certificates.length < files.length) {
    return { refusal: "missingFiles", why: "tls names no serverCertificate with privateKey" };
  }
  if (verifies && tls.caCertificates === undefined) {
    return { refusal: "missingFiles", why: `tls mode ${tls.mode} names no caCertificates to verify clients with` };
  }
  const authorities = verifies && tls.caCertificates ? [fileAuthority(tls.caCertificates, tls.caCrl)] : [];
  const { parameters, ignored } = tlsParameters(tls, defaults);
  const common: CommonTls = {
    ...(Object.keys(parameters).length > 0 ? { tls_params: parameters } : {}),
    tls_certificate_sds_secret_configs: certificates.map(({ name }) => secretConfig(name)),
    ...(authorities[0] ? { combined_validation_context: validation(tls, authorities[0]) } : {}),
    alpn_protocols: ALPN,
  };
  const context: envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext = {
    common_tls_context: common,
    require_client_certificate: wrap(tls.mode === "MUTUAL"),
  };
  const socket = {
    name: "envoy.transport_sockets.tls",
    typed_config: any("envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", context),
  };
  return { socket, secrets: [...certificates, ...authorities], ignoredCipherSuites: ignored };
}

function certificate({ serverCertificate, privateKey }: TlsCertificate): FileSecret[] {
  if (serverCertificate === undefined || privateKey === undefined) return [];
  return [fileCertificate(serverCertificate, privateKey)];
}

/** Which client certificates are good: signed by the authority, and where given: of these names, keys or hashes. */
function validation(tls: ServerTlsSettings, authority: FileSecret): CertificateValidationContext {
  const default_validation_context = {
    ...(tls.subjectAltNames?.length ? { match_typed_subject_alt_names: exactNames(tls.subjectAltNames) } : {}),
    ...(tls.verifyCertificateSpki?.length ? { verify_certificate_spki: [...tls.verifyCertificateSpki] } : {}),
    ...(tls.verifyCertificateHash?.length ? { verify_certificate_hash: [...tls.verifyCertificateHash] } : {}),
  };
  return { default_validation_context, validation_context_sds_secret_config: secretConfig(authority.name) };
}

function tlsParameters(
  tls: ServerTlsSettings,
  defaults: TlsConfig | undefined,
): { readonly parameters: Parameters; readonly ignored: readonly string[] } {
  const written = tls.cipherSuites?.length ? tls.cipherSuites : defaults?.cipherSuites ?? [];
  const suites = [...new Set(written)].filter(isUsable);
  const min = tls.minProtocolVersion === "TLS_AUTO"
    ? defaults?.minProtocolVersion ?? "TLS_AUTO"
    : tls.minProtocolVersion;
  const parameters: Parameters = {
    ...(min === "TLS_AUTO" ? {} : { tls_minimum_protocol_version: VERSIONS[min] }),
    ...(tls.maxProtocolVersion === "TLS_AUTO"
      ? {}
      : { tls_maximum_protocol_version: VERSIONS[tls.maxProtocolVersion] }),
    ...(suites.length > 0 ? { cipher_suites: suites } : {}),
    ...(defaults?.ecdhCurves?.length ? { ecdh_curves: [...defaults.ecdhCurves] } : {}),
  };
  return { parameters, ignored: written.filter((suite) => !isUsable(suite)) };
}

/**
 * Whether Envoy takes it: a suite, `ALL`, or a group of equal preference (`[A|B]`). It refuses the whole listener for one
 * that it does not know, and for operators (`-A`) beside groups.
 */
function isUsable(suite: string): boolean {
  const group = /^\[(.+)\]$/.exec(suite)?.[1];
  if (group !== undefined) return group.split("|").every((member) => CIPHER_SUITES.has(member));
  return suite === "ALL" || CIPHER_SUITES.has(suite);
}
