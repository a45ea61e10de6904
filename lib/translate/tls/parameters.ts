/**
 * Versions, cipher suites and curves of TLS. All three are always set, because stock Envoy's defaults allow more.
 *
 * @module
 */
import { TlsParameters_TlsProtocol as Version } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { Reader } from "../reader/reader.ts";

/** Versions, suites and curves of a TLS context. */
export type TlsParameters = envoy.extensions.transport_sockets.tls.v3.TlsParameters;

/**
 * Cipher suites between workloads, in order of preference. Only for TLS 1.2: the suites of TLS 1.3 cannot be chosen.
 */
const MESH_CIPHER_SUITES: readonly string[] = [
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "AES256-GCM-SHA384",
  "AES128-GCM-SHA256",
];

/** Cipher suites that FIPS 140-2 allows. */
const FIPS_CIPHER_SUITES: readonly string[] = [
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
];

/** Parameters of mutual TLS between workloads: `meshMTLS` of the mesh configuration, and the policy of compliance. */
export function meshTlsParameters(read: Reader): TlsParameters {
  const { minProtocolVersion, cipherSuites, ecdhCurves } = read.mesh().meshMTLS ?? {};
  return compliant(read, {
    tls_minimum_protocol_version: minProtocolVersion === "TLSV1_3" ? Version.TLSv1_3 : Version.TLSv1_2,
    tls_maximum_protocol_version: Version.TLSv1_3,
    cipher_suites: [...(cipherSuites?.length ? cipherSuites : MESH_CIPHER_SUITES)],
    ...(ecdhCurves?.length ? { ecdh_curves: [...ecdhCurves] } : {}),
  });
}

/**
 * Parameters of HBONE: only TLS 1.3, which every implementation of HBONE supports, unless the compliance policy
 * requires 1.2.
 */
export function hboneTlsParameters(read: Reader): TlsParameters {
  return compliant(read, {
    tls_minimum_protocol_version: Version.TLSv1_3,
    tls_maximum_protocol_version: Version.TLSv1_3,
  });
}

/**
 * Parameters, limited by the compliance policy. Cipher suites are filtered. If no suite remains, all allowed suites are
 * used.
 */
export function compliant(read: Reader, parameters: TlsParameters): TlsParameters {
  if (read.settings.compliancePolicy !== "fips-140-2") return parameters;
  const asked = (parameters.cipher_suites ?? []).filter((suite) => FIPS_CIPHER_SUITES.includes(suite));
  return {
    ...parameters,
    tls_minimum_protocol_version: Version.TLSv1_2,
    tls_maximum_protocol_version: Version.TLSv1_2,
    cipher_suites: asked.length > 0 ? asked : [...FIPS_CIPHER_SUITES],
    ecdh_curves: ["P-256"],
  };
}
