/**
 * What waits for the part "extensions".
 *
 * @module
 */
import type { NotBuiltPart } from "./entry.ts";

/** The part and what waits for it. */
export const extensions: NotBuiltPart = {
  title: "extensions",
  about: "Patches of Envoy's configuration, and Wasm modules.",
  settings: [
    "PILOT_PROXY_FILTER_STATS",
  ],
  metrics: [
    "pilot_proxy_filter_status",
  ],
  kinds: [
    "ProxyFilter",
  ],
};
