/**
 * TLS that a proxy ends, at a gateway or for its workload.
 *
 *     files on its machine   its agent reads them, or Envoy without an agent (`message/file_secret.ts`)
 *     credentialName         a secret over ADS, for proxies with a verified identity
 *     MESH_MUTUAL            the workload's own certificate
 *
 * A server whose certificate the proxy cannot have is omitted, with the reason: a port with the wrong protocol is worse
 * than a closed port.
 *
 * @module
 */
import {
  CertificateValidationContext_TrustChainVerification as TrustChain,
  TlsParameters_TlsProtocol as Version,
} from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { ServerTlsSettings, TlsProtocol } from "../../config/kinds/common/schema.ts";
import type { InternalServer } from "../../config/kinds/gateway/internal.ts";
import type { TlsConfig } from "../../config/mesh/types.ts";
import { checksNobody, CIPHER_SUITES } from "../../config/validation/tls.ts";
import { any } from "../../pb/codec.ts";
import { wrap } from "../../pb/wellknown.ts";
import type { FileSecret } from "../message/file_secret.ts";
import type { Reader } from "../reader/reader.ts";
import { INNER_ALPN } from "../tls/mesh_server.ts";
import { compliant, meshTlsParameters, type TlsParameters } from "../tls/parameters.ts";
import { exactNames } from "../tls/san.ts";
import {
  authorityFile,
  certificateFiles,
  credentialSecret,
  type SecretReference,
  secretsOf,
  serverIdentity,
} from "../tls/secret_source.ts";

type TlsContext = envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext;
type CommonTls = envoy.extensions.transport_sockets.tls.v3.CommonTlsContext;
type CertificateValidationContext =
  envoy.extensions.transport_sockets.tls.v3.CommonTlsContext.CombinedCertificateValidationContext;

/** Why TLS cannot be ended as asked. */
export type TlsRefusal = "certificateByName" | "meshCertificate" | "missingFiles" | "uncheckedClients";

/** The carrier of TLS: TCP, or QUIC, in which TLS 1.3 is part of the protocol. */
export type TlsCarrier = "tcp" | "quic";

/** The transport socket of a chain, or why there is none. */
export type DownstreamTls =
  | {
    readonly socket: envoy.config.core.v3.TransportSocket;
    /** Secrets that the socket refers to by name. */
    readonly secrets: readonly FileSecret[];
    readonly ignoredCipherSuites: readonly string[];
  }
  | { readonly refusal: TlsRefusal; readonly why: string };

const VERSIONS: Readonly<Record<TlsProtocol, (typeof Version)[keyof typeof Version]>> = {
  TLS_AUTO: Version.TLS_AUTO,
  TLSV1_0: Version.TLSv1_0,
  TLSV1_1: Version.TLSv1_1,
  TLSV1_2: Version.TLSv1_2,
  TLSV1_3: Version.TLSv1_3,
};

/** The content of TLS that the proxy ends. */
export interface TlsContent {
  /** `bytes`: the proxy speaks no HTTP, so no HTTP version is negotiated on behalf of the server. */
  readonly content: "http" | "bytes";
  readonly carrier?: TlsCarrier;
  /** Further fields of a derived server. Default: none. */
  readonly internal?: InternalServer | undefined;
}

/**
 * The TLS side of a server. Mode SIMPLE: the client is anonymous. MUTUAL: the client must show a certificate.
 * OPTIONAL_MUTUAL: the client may show a certificate. `tlsDefaults` of the mesh configuration apply to unset settings.
 */
export function downstreamTls(
  read: Reader,
  tls: ServerTlsSettings,
  { content, carrier = "tcp", internal = {} }: TlsContent,
): DownstreamTls {
  const found = referencesOf(read, tls, internal);
  if ("refusal" in found) return found;
  const { certificates, authorities } = found;
  const { parameters, ignored } = tlsParameters(tls, read.mesh().tlsDefaults);
  const limited = tls.mode === "MESH_MUTUAL" ? meshTlsParameters(read) : compliant(read, parameters);
  const common: CommonTls = {
    ...(Object.keys(limited).length > 0 ? { tls_params: limited } : {}),
    tls_certificate_sds_secret_configs: certificates.map(({ config }) => config),
    ...(authorities ? { combined_validation_context: validation(tls, internal, authorities) } : {}),
    ...(content === "http" ? { alpn_protocols: carrier === "quic" ? ["h3"] : [...INNER_ALPN] } : {}),
  };
  const context: TlsContext = {
    common_tls_context: common,
    require_client_certificate: wrap(tls.mode === "MUTUAL" || tls.mode === "MESH_MUTUAL"),
  };
  const secrets = secretsOf(authorities ? [...certificates, authorities] : certificates);
  return { socket: SOCKETS[carrier](context), secrets, ignoredCipherSuites: ignored };
}

const SOCKETS: Readonly<Record<TlsCarrier, (context: TlsContext) => envoy.config.core.v3.TransportSocket>> = {
  tcp: (context) => ({
    name: "envoy.transport_sockets.tls",
    typed_config: any("envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", context),
  }),
  quic: (context) => ({
    name: "envoy.transport_sockets.quic",
    typed_config: any("envoy.extensions.transport_sockets.quic.v3.QuicDownstreamTransport", {
      downstream_tls_context: context,
    }),
  }),
};

/** The secrets of a server's TLS settings. */
interface References {
  readonly certificates: readonly SecretReference[];
  /** Absent: clients are not verified. */
  readonly authorities?: SecretReference;
}

type Refused = Extract<DownstreamTls, { readonly refusal: TlsRefusal }>;

function referencesOf(
  read: Reader,
  tls: ServerTlsSettings,
  { clientAuthorities }: InternalServer,
): References | Refused {
  if (tls.mode === "MESH_MUTUAL") {
    const identity = serverIdentity(read);
    if (identity) return { certificates: [identity.certificate], authorities: identity.authorities };
    return {
      refusal: "meshCertificate",
      why: "tls mode MESH_MUTUAL needs a certificate of the mesh, and the proxy has neither an agent nor certificate " +
        "files in its metadata (TLS_SERVER_CERT_CHAIN, TLS_SERVER_KEY, TLS_SERVER_ROOT_CERT)",
    };
  }
  if (checksNobody(tls)) {
    return {
      refusal: "uncheckedClients",
      why: "tls lists the admitted clients (subjectAltNames, verifyCertificateSpki or verifyCertificateHash), but " +
        `mode ${tls.mode} checks no client certificate: anybody would be admitted`,
    };
  }
  const verifies = tls.mode === "MUTUAL" || tls.mode === "OPTIONAL_MUTUAL";
  const names = tls.credentialNames?.length ? tls.credentialNames : tls.credentialName ? [tls.credentialName] : [];
  if (names.length > 0) {
    const why =
      `tls.credentialName "${names.join(", ")}" needs a proxy with a verified identity, and the proxy has no ` +
      "agent; use files instead";
    if (!names.every((name) => mayBeServed(read, name))) return { refusal: "certificateByName", why };
    const secret = (name: string): SecretReference => ({ config: credentialSecret(read, name) });
    // Envoy accepts a single list of authorities for all certificates: the list of the first name is used.
    const authorities = clientAuthorities ?? names[0];
    return { certificates: names.map(secret), ...(verifies ? { authorities: secret(`${authorities}-cacert`) } : {}) };
  }
  const files = tls.tlsCertificates?.length ? tls.tlsCertificates : [tls];
  const certificates = files.flatMap(({ serverCertificate, privateKey }) =>
    serverCertificate && privateKey ? [certificateFiles(read, serverCertificate, privateKey)] : []
  );
  if (certificates.length < files.length) {
    return { refusal: "missingFiles", why: "tls names no serverCertificate with privateKey" };
  }
  if (!verifies) return { certificates };
  if (tls.caCertificates === undefined) {
    return { refusal: "missingFiles", why: `tls mode ${tls.mode} names no caCertificates to verify clients with` };
  }
  return { certificates, authorities: authorityFile(read, tls.caCertificates, tls.caCrl) };
}

/**
 * Whether the proxy can get certificates by name: from an agent, which connects with its own identity, or from a local
 * credential server.
 */
function mayBeServed(read: Reader, name: string): boolean {
  return read.property("agent") || (name.startsWith("sds://") && read.property("credentialSocket"));
}

/**
 * Accepted client certificates: signed by the authority and, if set, with one of the names, keys or hashes. A derived
 * server may accept every certificate; clients then learn the authorities from the handshake.
 */
function validation(
  tls: ServerTlsSettings,
  { acceptsUnverifiedClients }: InternalServer,
  authorities: SecretReference,
): CertificateValidationContext {
  const default_validation_context = {
    ...(acceptsUnverifiedClients ? { trust_chain_verification: TrustChain.ACCEPT_UNTRUSTED } : {}),
    ...(tls.subjectAltNames?.length ? { match_typed_subject_alt_names: exactNames(tls.subjectAltNames) } : {}),
    ...(tls.verifyCertificateSpki?.length ? { verify_certificate_spki: [...tls.verifyCertificateSpki] } : {}),
    ...(tls.verifyCertificateHash?.length ? { verify_certificate_hash: [...tls.verifyCertificateHash] } : {}),
  };
  return { default_validation_context, validation_context_sds_secret_config: authorities.config };
}

function tlsParameters(
  tls: ServerTlsSettings,
  defaults: TlsConfig | undefined,
): { readonly parameters: TlsParameters; readonly ignored: readonly string[] } {
  const written = tls.cipherSuites?.length ? tls.cipherSuites : defaults?.cipherSuites ?? [];
  const suites = [...new Set(written)].filter(isUsable);
  const min = tls.minProtocolVersion === "TLS_AUTO"
    ? defaults?.minProtocolVersion ?? "TLS_AUTO"
    : tls.minProtocolVersion;
  const parameters: TlsParameters = {
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
 * Whether Envoy accepts a cipher suite: a known suite, `ALL`, or a group of equal preference (`[A|B]`). For an unknown
 * suite, or an operator (`-A`) beside groups, Envoy refuses the whole listener.
 */
function isUsable(suite: string): boolean {
  const group = /^\[(.+)\]$/.exec(suite)?.[1];
  if (group !== undefined) return group.split("|").every((member) => CIPHER_SUITES.has(member));
  return suite === "ALL" || CIPHER_SUITES.has(suite);
}
