/**
 * What waits for the part "security".
 *
 * @module
 */
import type { NotBuiltPart } from "./entry.ts";

/** The part and what waits for it. */
export const security: NotBuiltPart = {
  title: "security",
  about: "Authorization and authentication of requests as policies ask for them.",
  settings: [
    "JWKS_RESOLVER_INSECURE_SKIP_VERIFY",
    "PILOT_JWT_ENABLE_REMOTE_JWKS",
    "PILOT_JWT_PUB_KEY_REFRESH_INTERVAL",
  ],
  metrics: [
    "pilot_jwks_resolver_network_fetch_fail_total",
    "pilot_jwks_resolver_network_fetch_success_total",
  ],
  meshFields: [
    "verifyCertificateAtClient",
  ],
  kinds: [
    "RequestAuthentication",
  ],
};
