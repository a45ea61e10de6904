/**
 * Catalogue entries that wait for the part "networks".
 *
 * @module
 */
import type { NotBuiltPart } from "./entry.ts";

/** The part "networks" with its entries. */
export const networks: NotBuiltPart = {
  title: "networks",
  about: "Gateways of networks that are objects of the Gateway API.",
  settings: [
    "PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API",
  ],
};
