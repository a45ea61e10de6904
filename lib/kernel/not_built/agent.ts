/**
 * What waits for the part "agent".
 *
 * @module
 */
import type { NotBuiltPart } from "./entry.ts";

/** The part and what waits for it. */
export const agent: NotBuiltPart = {
  title: "agent",
  about: "What `pilot-agent proxy` does besides: Wasm modules.",
  settings: [
    "MESH_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION",
    "WASM_HTTP_REQUEST_MAX_RETRIES",
    "WASM_HTTP_REQUEST_TIMEOUT",
    "WASM_INSECURE_REGISTRIES",
    "WASM_MODULE_EXPIRY",
    "WASM_PURGE_INTERVAL",
  ],
  metrics: [
    "wasm_cache_entries",
    "wasm_cache_lookup_count",
    "wasm_config_conversion_count",
    "wasm_config_conversion_duration",
    "wasm_remote_fetch_count",
  ],
  flags: [],
};
