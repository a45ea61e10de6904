/**
 * Variables that only pilot-discovery reads.
 *
 * @module
 */
import { bool, choice, dur, int, str } from "./define.ts";

/** Variables of `pilot-discovery discovery`. */
export const discoverySettings = {
  AUDIENCE: str("D", "", "Audience that tokens must carry."),
  CITADEL_ENABLE_JITTER_FOR_ROOT_CERT_ROTATOR: bool(
    "D",
    true,
    "Start looking after the root certificate at a random moment of the first check interval.",
  ),
  CITADEL_SELF_SIGNED_CA_CERT_TTL: dur("D", "87600h0m0s", "Lifetime of a self-signed root certificate.", { min: 1 }),
  CITADEL_SELF_SIGNED_CA_RSA_KEY_SIZE: int("D", 2048, "Bits of a self-signed CA's RSA key.", { min: 2048 }),
  CITADEL_SELF_SIGNED_ROOT_CERT_CHECK_INTERVAL: dur(
    "D",
    "1h0m0s",
    "Time between two looks at the self-signed root's expiry; 0 or less: never. Less than 10 minutes is not advised.",
  ),
  CITADEL_SELF_SIGNED_ROOT_CERT_GRACE_PERIOD_PERCENTILE: int(
    "D",
    20,
    "Last part of the root's lifetime, in percent, in which it is renewed.",
    { min: 0, max: 100 },
  ),
  DEFAULT_WORKLOAD_CERT_TTL: dur("D", "24h0m0s", "Lifetime of a workload certificate when the request names none.", {
    min: 1,
  }),
  EXTERNAL_CA: choice("D", "", ["", "ISTIOD_RA_ORCH_API"], "Have certificates signed by the orchestrator's API."),
  INJECT_ENABLED: bool("D", true, "Serve the injection webhook."),
  JWT_RULE: str("D", "", "JSON rule of the tokens by which discovery clients may prove their identity."),
  ORCH_INGRESS_NS: str("D", "mesh-system", "Namespace of the ingress controller."),
  ORCH_SIGNER: str("D", "", "Signer of the orchestrator that signs certificates."),
  K_REVISION: str("D", "", "Revision on a serverless platform; set there by the platform."),
  MAX_WORKLOAD_CERT_TTL: dur("D", "2160h0m0s", "Longest lifetime that a workload certificate may be asked for.", {
    min: 1,
  }),
  PLATFORM: str("D", "", "Platform with rules of its own (`openshift`, `gcp`)."),
  ROOT_CA_DIR: str("D", "./etc/cacerts", "Folder of a CA key and certificate brought along."),
  TOKEN_ISSUER: str("D", "", "Issuer that tokens must carry; empty: any trusted one."),
  USE_REMOTE_CERTS: bool("D", false, "Load the CA's key and certificate from the config cluster."),
};
