/**
 * TLS of static clusters towards servers outside of the mesh, or with the workload's own identity.
 *
 * @module
 */
import type { ClientTlsSettings } from "../../config/kinds/common/schema.ts";
import { type EnvoyJson, typed } from "./envoy_json.ts";

/** The TLS parameters of FIPS 140-2. Without them stock Envoy allows more. */
const FIPS_PARAMETERS: EnvoyJson = {
  tls_minimum_protocol_version: "TLSv1_2",
  tls_maximum_protocol_version: "TLSv1_2",
  cipher_suites: [
    ...["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256"],
    ...["ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384"],
  ],
  ecdh_curves: ["P-256"],
};

/**
 * The transport socket; undefined: plain text.
 *
 * @param fips `COMPLIANCE_POLICY=fips-140-2`
 */
export function tlsSocket(tls: ClientTlsSettings | undefined, fips: boolean): EnvoyJson | undefined {
  if (tls === undefined || tls.mode === "DISABLE") return undefined;
  const common = tls.mode === "MESH_MUTUAL" ? meshIdentity(tls) : files(tls);
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: typed("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", {
      ...(tls.sni ? { sni: tls.sni } : {}),
      common_tls_context: { ...common, ...(fips ? { tls_params: FIPS_PARAMETERS } : {}) },
    }),
  };
}

function files(tls: ClientTlsSettings): EnvoyJson {
  const file = (filename: string) => ({ filename });
  const own = tls.mode === "MUTUAL" && tls.clientCertificate && tls.privateKey
    ? {
      tls_certificates: [{
        certificate_chain: file(tls.clientCertificate),
        private_key: file(tls.privateKey),
      }],
    }
    : {};
  if (!tls.caCertificates || tls.insecureSkipVerify) return own;
  return { ...own, validation_context: { trusted_ca: file(tls.caCertificates), ...namesOf(tls) } };
}

/** The certificates from the agent's socket. */
function meshIdentity(tls: ClientTlsSettings): EnvoyJson {
  const sds_config = {
    resource_api_version: "V3",
    api_config_source: {
      api_type: "GRPC",
      transport_api_version: "V3",
      set_node_on_first_message_only: true,
      grpc_services: [{ envoy_grpc: { cluster_name: "sds-grpc" } }],
    },
  };
  return {
    tls_certificate_sds_secret_configs: [{ name: "default", sds_config }],
    combined_validation_context: {
      default_validation_context: namesOf(tls),
      validation_context_sds_secret_config: { name: "ROOTCA", sds_config },
    },
  };
}

function namesOf({ subjectAltNames = [] }: ClientTlsSettings): EnvoyJson {
  if (subjectAltNames.length === 0) return {};
  const match_typed_subject_alt_names = subjectAltNames.flatMap((exact) =>
    ["DNS", "URI", "IP_ADDRESS"].map((san_type) => ({ san_type, matcher: { exact } }))
  );
  return { match_typed_subject_alt_names };
}
