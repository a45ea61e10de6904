/**
 * What waits for the part "authority".
 *
 * @module
 */
import type { NotBuiltPart } from "./entry.ts";

/** The part and what waits for it. */
export const authority: NotBuiltPart = {
  title: "authority",
  about: "The certificate authority, discovery over TLS, and authentication of callers.",
  settings: [
    "AUDIENCE",
    "CA_TRUSTED_NODE_ACCOUNTS",
    "CERT_SIGNER_DOMAIN",
    "CITADEL_ENABLE_JITTER_FOR_ROOT_CERT_ROTATOR",
    "CITADEL_SELF_SIGNED_CA_CERT_TTL",
    "CITADEL_SELF_SIGNED_CA_RSA_KEY_SIZE",
    "CITADEL_SELF_SIGNED_ROOT_CERT_CHECK_INTERVAL",
    "CITADEL_SELF_SIGNED_ROOT_CERT_GRACE_PERIOD_PERCENTILE",
    "DEFAULT_WORKLOAD_CERT_TTL",
    "ENABLE_CA_SERVER",
    "ENABLE_CLUSTER_TRUST_BUNDLE_API",
    "EXTERNAL_CA",
    "EXTERNAL_MESHD",
    "JWT_RULE",
    "MAX_WORKLOAD_CERT_TTL",
    "MESHD_CUSTOM_HOST",
    "MESH_MULTIROOT_MESH",
    "ORCH_SIGNER",
    "PILOT_CA_CERT_CONFIGMAP",
    "PILOT_CERT_PROVIDER",
    "PILOT_ENABLE_XDS_IDENTITY_CHECK",
    "ROOT_CA_DIR",
    "TOKEN_AUDIENCES",
    "TOKEN_ISSUER",
    "TRUSTED_GATEWAY_CIDR",
    "USE_CACERTS_FOR_SELF_SIGNED_CA",
    "USE_REMOTE_CERTS",
    "XDS_AUTH",
    "XDS_AUTH_PLAINTEXT",
  ],
  metrics: [
    "citadel_server_authentication_failure_count",
    "citadel_server_cert_chain_expiry_seconds",
    "citadel_server_cert_chain_expiry_timestamp",
    "citadel_server_csr_count",
    "citadel_server_csr_parsing_err_count",
    "citadel_server_csr_sign_err_count",
    "citadel_server_id_extraction_err_count",
    "citadel_server_root_cert_expiry_seconds",
    "citadel_server_root_cert_expiry_timestamp",
    "citadel_server_success_cert_issuance_count",
    "pilot_sds_certificate_errors_total",
  ],
  flags: [
    "pilot-discovery --caCertFile",
    "pilot-discovery --secureGRPCAddr",
    "pilot-discovery --tls-cipher-suites",
    "pilot-discovery --tlsCertFile",
    "pilot-discovery --tlsKeyFile",
  ],
  meshFields: [
    "ca",
    "caCertificates",
  ],
};
