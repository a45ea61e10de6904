/**
 * What waits for the part "authority".
 *
 * @module
 */
import type { NotBuiltPart } from "./entry.ts";

/** The part and what waits for it. */
export const authority: NotBuiltPart = {
  title: "authority",
  about: "The certificate authority, and the server's own certificate from it.",
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
    "MAX_WORKLOAD_CERT_TTL",
    "MESHD_CUSTOM_HOST",
    "MESH_MULTIROOT_MESH",
    "ORCH_SIGNER",
    "PILOT_CA_CERT_CONFIGMAP",
    "PILOT_CERT_PROVIDER",
    "ROOT_CA_DIR",
    "TOKEN_AUDIENCES",
    "TOKEN_ISSUER",
    "USE_CACERTS_FOR_SELF_SIGNED_CA",
    "USE_REMOTE_CERTS",
  ],
  meshFields: [
    "ca",
    "caCertificates",
  ],
};
