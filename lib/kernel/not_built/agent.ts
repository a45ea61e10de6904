/**
 * What waits for the part "agent".
 *
 * @module
 */
import type { NotBuiltPart } from "./entry.ts";

/** The part and what waits for it. */
export const agent: NotBuiltPart = {
  title: "agent",
  about: "What `pilot-agent proxy` does besides: probes of applications, merged metrics, DNS, Wasm modules.",
  settings: [
    "ENABLE_PROBE_KEEPALIVE_CONNECTIONS",
    "GRPC_XDS_BOOTSTRAP",
    "MESH_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION",
    "MESH_AGENT_METRIC_PREFIX",
    "MESH_ENABLE_HTTP2_PROBING",
    "MESH_META_DNS_CAPTURE",
    "MESH_META_ENABLE_DNS_SERVER",
    "MESH_METRICS_ANNOTATIONS",
    "MESH_ORCH_APP_PROBERS",
    "WASM_HTTP_REQUEST_MAX_RETRIES",
    "WASM_HTTP_REQUEST_TIMEOUT",
    "WASM_INSECURE_REGISTRIES",
    "WASM_MODULE_EXPIRY",
    "WASM_PURGE_INTERVAL",
  ],
  metrics: [
    "scrape_failures_total",
    "scrapes_total",
    "wasm_cache_entries",
    "wasm_cache_lookup_count",
    "wasm_config_conversion_count",
    "wasm_config_conversion_duration",
    "wasm_remote_fetch_count",
  ],
  flags: [
    "pilot-agent --profiling",
  ],
};
