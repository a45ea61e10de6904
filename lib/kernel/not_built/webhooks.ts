/**
 * What waits for the part "webhooks".
 *
 * @module
 */
import type { NotBuiltPart } from "./entry.ts";

/** The part and what waits for it. */
export const webhooks: NotBuiltPart = {
  title: "webhooks",
  about: "Injection into pods.",
  // Its settings are for a proxy's start, and injection alone writes what a proxy is started with.
  kinds: ["ProxyConfig"],
  settings: [
    "ENABLE_NATIVE_SIDECARS",
    "INJECTION_WEBHOOK_CONFIG_NAME",
    "INJECT_ENABLED",
    "PLATFORM",
  ],
  metrics: [
    "sidecar_injection_failure_total",
    "sidecar_injection_requests_total",
    "sidecar_injection_skip_total",
    "sidecar_injection_success_total",
    "sidecar_injection_time_seconds",
    "webhook_patch_attempts_total",
    "webhook_patch_failures_total",
    "webhook_patch_retries_total",
  ],
  meshFields: [
    "enablePrometheusMerge",
  ],
};
