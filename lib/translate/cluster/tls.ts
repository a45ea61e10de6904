/**
 * TLS from the proxy to endpoints, as destination rules ask for it.
 *
 * Certificates are read from files by Envoy itself, so that a stock proxy needs nothing beside it; those named by
 * `credentialName` come as secrets over ADS. No certificates of the mesh itself are issued yet: connections with
 * `MESH_MUTUAL` are plain, and the result has a warning. There is no automatic mutual TLS.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { ClientTlsSettings } from "../../config/kinds/common/types.ts";
import { any } from "../../pb/codec.ts";
import type { DestinationPlan } from "../destination/plan.ts";
import { secretConfig } from "../message/file_secret.ts";
import { aspect } from "../reader/aspect.ts";
import type { Reader } from "../reader/reader.ts";
import { exactNames } from "./san.ts";
import { serverNames } from "./server_names.ts";

type CommonTlsContext = envoy.extensions.transport_sockets.tls.v3.CommonTlsContext;
type CertificateValidationContext = envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext;

/** What TLS adds to a cluster. */
export interface UpstreamTls {
  readonly socket?: envoy.config.core.v3.TransportSocket;
  /** Send the request's host as SNI: the rule names none. */
  readonly autoSni?: boolean;
  /** Verify the server against that host as well: the rule gives neither names nor an SNI. */
  readonly autoSanValidation?: boolean;
  /** A setting of the rule that is not in force, in words. */
  readonly warning?: string;
}

/** Authorities of the operating system, where Debian, Ubuntu and Envoy's own images keep them. */
const SYSTEM_AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt";

/** TLS protocol versions offered, as `TlsParameters.TlsProtocol`: 1.2 and 1.3. */
const versions = { tls_minimum_protocol_version: 3, tls_maximum_protocol_version: 4 } as const;

/**
 * TLS of the connections of one outbound cluster.
 *
 * @param http2 Whether the cluster speaks HTTP/2 only; it then says so in the handshake.
 */
export function upstreamTls(read: Reader, d: DestinationPlan, http2: boolean): UpstreamTls {
  const asked = d.policy.tls;
  if (asked === undefined || asked.mode === "DISABLE") return {};
  const tls = asked.mode === "SIMPLE" ? asked : withProxyFiles(read, d, asked);
  if (tls.mode === "MESH_MUTUAL") {
    return { warning: `${d.name}: tls mode ISTIO_MUTUAL waits for certificates of the mesh; connections are plain` };
  }
  if (
    tls.credentialName !== undefined && d.rule?.spec.workloadSelector === undefined &&
    !aspect(read, "namedCredentials")
  ) {
    return {
      warning: `${d.name}: tls.credentialName serves gateways, and sidecars only by a rule with a workloadSelector; ` +
        "connections are plain",
    };
  }
  const names = tls.insecureSkipVerify === true ? [] : tls.subjectAltNames ?? serverNames(read, d.service);
  const context = tls.credentialName === undefined ? byFiles(tls, names) : bySecret(tls, tls.credentialName, names);
  const mesh = read.mesh().tlsDefaults;
  const common: CommonTlsContext = {
    tls_params: {
      ...versions,
      ...(mesh?.ecdhCurves?.length && { ecdh_curves: [...mesh.ecdhCurves] }),
      ...(mesh?.cipherSuites?.length && { cipher_suites: [...mesh.cipherSuites] }),
    },
    ...context,
    ...(http2 && { alpn_protocols: ["h2"] }),
  };
  const named = tls.sni !== undefined || !!tls.subjectAltNames?.length || tls.insecureSkipVerify === true;
  return {
    socket: socket({ common_tls_context: common, ...(tls.sni !== undefined && { sni: tls.sni }) }),
    autoSni: tls.sni === undefined,
    autoSanValidation: !named,
  };
}

/**
 * A proxy with client certificates in its metadata uses them for every mutual mode, with the names of the rule. For
 * services outside the mesh a setting (`PREFER_DESTINATIONRULE_TLS_FOR_EXTERNAL_SERVICES`) prefers the rule's files.
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

function byFiles(tls: ClientTlsSettings, names: readonly string[]): CommonTlsContext {
  const { clientCertificate, privateKey } = tls;
  const mutual = tls.mode === "MUTUAL" && clientCertificate !== undefined && privateKey !== undefined;
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

/** Key, certificate and authorities under one name; authorities alone have the suffix `-cacert`. */
function bySecret(tls: ClientTlsSettings, credential: string, names: readonly string[]): CommonTlsContext {
  const name = credential.includes("://") ? credential : `kubernetes://${credential}`;
  return {
    ...(tls.mode === "MUTUAL" && { tls_certificate_sds_secret_configs: [secretConfig(name)] }),
    ...(tls.insecureSkipVerify !== true && {
      combined_validation_context: {
        default_validation_context: nameAndRevocation(tls, names),
        validation_context_sds_secret_config: secretConfig(`${name}-cacert`),
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
