/**
 * What waits for the part "networks".
 *
 * @module
 */
import type { NotBuiltPart } from "./entry.ts";

/** The part and what waits for it. */
export const networks: NotBuiltPart = {
  title: "networks",
  about: "What a mesh of several networks needs beyond gateways with addresses.",
  settings: [
    "PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API",
    "RESOLVE_HOSTNAME_GATEWAYS",
  ],
};
