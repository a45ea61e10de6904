/**
 * TLS from the proxy to endpoints, as the destination rule says. Without a rule: mutual TLS to every endpoint that
 * accepts mutual TLS.
 *
 * The proxy's agent serves files. Without an agent Envoy reads the files, so a stock proxy needs no other program. The
 * certificates of a `credentialName` arrive as secrets over ADS. Certificates of the mesh come from the agent, or from
 * files in the proxy's metadata.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { CONFIG_MAP, inNamespace } from "../../config/credentials/named.ts";
import type { ClientTlsSettings } from "../../config/kinds/common/schema.ts";
import { any } from "../../pb/codec.ts";
import type { Protocol } from "../../registry/types.ts";
import { dialsByPeerTls, marksEndpoints } from "../destination/automatic_tls.ts";
import type { DestinationPlan } from "../destination/plan.ts";
import { aspect } from "../reader/aspect.ts";
import type { Reader } from "../reader/reader.ts";
import { listenerKind } from "../service/protocol.ts";
import { automaticSockets, clusterSni, meshClientSocket, oneOfNames } from "../tls/mesh_client.ts";
import { compliant } from "../tls/parameters.ts";
import { exactNames } from "../tls/san.ts";
import {
  authorityFile,
  certificateFiles,
  type ClientIdentity,
  clientIdentity,
  credentialSecret,
  offersPeerTls,
} from "../tls/secret_source.ts";
import type { UpstreamHttp } from "./http_options.ts";
import { serverNames, workloadNames } from "./server_names.ts";

/**
 * The ALPN protocols that a proxy offers in mutual TLS of the mesh. The server's sidecar chooses a filter chain by ALPN
 * before reading any content: `istio-http/1.1` and `istio-h2` mean HTTP, `istio` alone means bytes. Protocols without
 * the `istio` prefix are negotiated as usual, and offered only for a fixed HTTP version. `istio-peer-exchange` is never
 * offered: the protocol announces data before the first byte, and stock Envoy does not send such data.
 */
interface MeshAlpn {
  /** Of every connection, unless a request sets other protocols. */
  readonly socket: readonly string[];
  /** Of HTTP requests, where connections of the cluster carry bytes as well. */
  readonly http?: readonly string[];
}

const BYTES: readonly string[] = ["istio"];
const HTTP: readonly string[] = ["istio-http/1.1", "istio"];

/** The protocols of a cluster. */
export function meshAlpn(protocol: Protocol, version: UpstreamHttp): MeshAlpn {
  const kind = listenerKind(protocol);
  if (kind === "auto") return { socket: BYTES, http: HTTP };
  if (kind !== "http") return { socket: BYTES };
  if (version === "http2") return { socket: ["istio-h2", "istio", "h2"] };
  return { socket: version === "http1" ? [...HTTP, "http/1.1"] : HTTP };
}

type CommonTlsContext = envoy.extensions.transport_sockets.tls.v3.CommonTlsContext;
type CertificateValidationContext = envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext;

/** The additions of TLS to a cluster. */
export interface UpstreamTls {
  readonly socket?: envoy.config.core.v3.TransportSocket;
  /** Sockets by the mark of an endpoint, instead of a single socket. */
  readonly matches?: readonly envoy.config.cluster.v3.Cluster.TransportSocketMatch[];
  /** A server's certificate must carry one of these names of the mesh. */
  readonly names?: readonly string[];
  /** Protocols that HTTP requests offer, instead of the socket's protocols. */
  readonly httpAlpn?: string;
  /** The reason for sending nothing: the rule asks for an identity or a check that the proxy cannot have. */
  readonly closed?: string;
  /** Send the request's host as SNI, because the rule sets no SNI. */
  readonly autoSni?: boolean;
  /** Also verify the server against the request's host, because the rule sets neither names nor an SNI. */
  readonly autoSanValidation?: boolean;
}

/** Authorities of the operating system, at the path of Debian, Ubuntu and Envoy's own images. */
const SYSTEM_AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt";

/** TLS protocol versions offered, as `TlsParameters.TlsProtocol`: 1.2 and 1.3. */
const versions = { tls_minimum_protocol_version: 3, tls_maximum_protocol_version: 4 } as const;

/**
 * TLS of the connections of an outbound cluster.
 *
 * @param version The cluster's HTTP version. The handshake announces a fixed version.
 */
export function upstreamTls(read: Reader, d: DestinationPlan, version: UpstreamHttp): UpstreamTls {
  if (d.backendTls?.closed !== undefined) return { closed: `${d.name} is closed: ${d.backendTls.closed}` };
  const asked = d.policy.tls;
  if (asked === undefined) return automaticTls(read, d, version);
  if (asked.mode === "DISABLE") return {};
  if (asked.mode === "MESH_MUTUAL" && offersPeerTls(read)) return meshTls(read, d, version, asked);
  const tls = asked.mode === "SIMPLE" ? asked : withProxyFiles(read, d, asked);
  if (tls.mode === "MESH_MUTUAL") return meshTls(read, d, version, tls);
  if (
    // Authorities in a ConfigMap are not secret: every proxy may read them.
    tls.credentialName !== undefined && !tls.credentialName.startsWith(CONFIG_MAP) &&
    d.rule?.spec.workloadSelector === undefined && !aspect(read, "namedCredentials")
  ) {
    return {
      closed: `${d.name} is closed: tls.credentialName serves gateways, and sidecars only by a rule with a ` +
        "workloadSelector",
    };
  }
  const names = tls.insecureSkipVerify === true ? [] : tls.subjectAltNames ?? serverNames(read, d.service);
  const context = tls.credentialName === undefined
    ? byFiles(read, tls, names)
    : bySecret(read, tls, inNamespace(tls.credentialName, d.rule?.namespace ?? ""), names);
  const mesh = read.mesh().tlsDefaults;
  const common: CommonTlsContext = {
    tls_params: compliant(read, {
      ...versions,
      ...(mesh?.ecdhCurves?.length && { ecdh_curves: [...mesh.ecdhCurves] }),
      ...(mesh?.cipherSuites?.length && { cipher_suites: [...mesh.cipherSuites] }),
    }),
    ...context,
    ...(d.backendTls && tls.mode === "SIMPLE" && gatewayCertificate(read)),
    ...(version === "http2" && { alpn_protocols: ["h2"] }),
  };
  const named = tls.sni !== undefined || !!tls.subjectAltNames?.length || tls.insecureSkipVerify === true;
  return {
    socket: socket({ common_tls_context: common, ...(tls.sni !== undefined && { sni: tls.sni }) }),
    autoSni: tls.sni === undefined,
    autoSanValidation: !named,
  };
}

/**
 * The certificate that a gateway presents to backends of BackendTLSPolicies: the certificate of its oldest Gateway with
 * one. Nothing for other proxies, and for gateways without such a certificate.
 */
function gatewayCertificate(read: Reader): CommonTlsContext | undefined {
  if (!aspect(read, "namedCredentials")) return undefined;
  const name = read.gateways().find(({ spec }) => spec.internal?.clientCredential)?.spec.internal?.clientCredential;
  return name === undefined ? undefined : { tls_certificate_sds_secret_configs: [credentialSecret(read, name)] };
}

/**
 * The settings of a proxy with client certificates in its metadata: the proxy uses these certificates in every mutual
 * mode, with the names of the rule. For services outside the mesh, `PREFER_DESTINATIONRULE_TLS_FOR_EXTERNAL_SERVICES`
 * prefers the rule's files.
 */
function withProxyFiles(read: Reader, d: DestinationPlan, asked: ClientTlsSettings): ClientTlsSettings {
  if (read.settings.preferDestinationRuleTlsForExternal && d.service.meshExternal) return asked;
  const clientCertificate = read.property("tlsClientCertChain");
  if (clientCertificate === "") return asked;
  const caCertificates = read.property("tlsClientRootCert");
  return {
    mode: "MUTUAL",
    clientCertificate,
    privateKey: read.property("tlsClientKey"),
    ...(caCertificates !== "" && { caCertificates }),
    ...(asked.subjectAltNames && { subjectAltNames: asked.subjectAltNames }),
    ...(asked.sni !== undefined && { sni: asked.sni }),
  };
}

/** The socket for a rule with mutual TLS of the mesh: every endpoint must accept mutual TLS. */
function meshTls(read: Reader, d: DestinationPlan, version: UpstreamHttp, tls: ClientTlsSettings): UpstreamTls {
  const identity = clientIdentity(read);
  if (identity === undefined) {
    return {
      closed: `${d.name} is closed: tls mode ISTIO_MUTUAL needs a certificate of the mesh, and the proxy has neither ` +
        "an agent nor certificate files in its metadata (TLS_CLIENT_CERT_CHAIN, TLS_CLIENT_KEY, TLS_CLIENT_ROOT_CERT)",
    };
  }
  const names = tls.subjectAltNames ?? workloadNames(read, d.service);
  return meshSocket(read, d, { identity, version, names, ...(tls.sni !== undefined && { sni: tls.sni }) });
}

/** Mutual TLS to endpoints that accept mutual TLS, plain connections to the others. */
function automaticTls(read: Reader, d: DestinationPlan, version: UpstreamHttp): UpstreamTls {
  const { service, port, discovery } = d;
  if (discovery === "dynamicDns" || !marksEndpoints(read, service)) return {};
  const identity = clientIdentity(read);
  if (identity === undefined) return {};
  // A dialled address has no mark, so mutual TLS is used for all addresses or for none.
  const dialled = discovery === "originalDst";
  if (dialled && !dialsByPeerTls(read, service, port.name)) return {};
  const tls = meshSocket(read, d, { identity, version, names: workloadNames(read, service) });
  if (dialled || tls.socket === undefined) return tls;
  const { socket, ...others } = tls;
  return { ...others, matches: automaticSockets(socket) };
}

interface MeshSocketInput {
  readonly identity: ClientIdentity;
  readonly version: UpstreamHttp;
  readonly names: readonly string[];
  readonly sni?: string;
}

function meshSocket(read: Reader, d: DestinationPlan, { identity, version, names, sni }: MeshSocketInput): UpstreamTls {
  const own = sni ?? clusterSni(d.port.port, d.subset?.name ?? "", d.service.hostname);
  const offered = meshAlpn(d.port.protocol, version);
  const built = meshClientSocket(read, identity, { sni: own, trusted: oneOfNames(names), alpn: offered.socket });
  return { socket: built, names, ...(offered.http && { httpAlpn: offered.http.join(",") }) };
}

function byFiles(read: Reader, tls: ClientTlsSettings, names: readonly string[]): CommonTlsContext {
  const { clientCertificate, privateKey } = tls;
  const mutual = tls.mode === "MUTUAL" && clientCertificate !== undefined && privateKey !== undefined;
  if (read.property("agent")) {
    return {
      ...(mutual && {
        tls_certificate_sds_secret_configs: [certificateFiles(read, clientCertificate, privateKey).config],
      }),
      ...(tls.insecureSkipVerify !== true && {
        combined_validation_context: {
          default_validation_context: nameAndRevocation(tls, names),
          validation_context_sds_secret_config: authorityFile(read, tls.caCertificates ?? "system").config,
        },
      }),
    };
  }
  return {
    ...(mutual && {
      tls_certificates: [{ certificate_chain: { filename: clientCertificate }, private_key: { filename: privateKey } }],
    }),
    ...(tls.insecureSkipVerify !== true && {
      validation_context: {
        trusted_ca: { filename: tls.caCertificates ?? SYSTEM_AUTHORITIES },
        ...nameAndRevocation(tls, names),
      },
    }),
  };
}

/** Key, certificate and authorities have one secret name. Authorities alone have the suffix `-cacert`. */
function bySecret(
  read: Reader,
  tls: ClientTlsSettings,
  credential: string,
  names: readonly string[],
): CommonTlsContext {
  return {
    ...(tls.mode === "MUTUAL" && { tls_certificate_sds_secret_configs: [credentialSecret(read, credential)] }),
    ...(tls.insecureSkipVerify !== true && {
      combined_validation_context: {
        default_validation_context: nameAndRevocation(tls, names),
        validation_context_sds_secret_config: credentialSecret(read, `${credential}-cacert`),
      },
    }),
  };
}

function nameAndRevocation(tls: ClientTlsSettings, names: readonly string[]): CertificateValidationContext {
  return {
    ...(names.length > 0 && { match_typed_subject_alt_names: exactNames(names) }),
    ...(tls.caCrl !== undefined && { crl: { filename: tls.caCrl } }),
  };
}

function socket(
  context: envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext,
): envoy.config.core.v3.TransportSocket {
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: any("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", context),
  };
}
