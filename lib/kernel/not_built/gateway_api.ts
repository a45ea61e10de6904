/**
 * Catalogue entries that wait for the part "Gateway API".
 *
 * @module
 */
import type { NotBuiltPart } from "./entry.ts";

/** The part "Gateway API" with its entries. */
export const gatewayApi: NotBuiltPart = {
  title: "Gateway API",
  about: "Gateway API objects as a source.",
  settings: [
    "ENABLE_GATEWAY_API_MANUAL_DEPLOYMENT",
    "ENABLE_SELECTOR_BASED_ORCH_GATEWAY_POLICY",
    "PILOT_ENABLE_ALPHA_GATEWAY_API",
    "PILOT_ENABLE_GATEWAY_API",
    "PILOT_ENABLE_GATEWAY_API_DEPLOYMENT_CONTROLLER",
    "PILOT_ENABLE_GATEWAY_API_GATEWAYCLASS_CONTROLLER",
    "PILOT_ENABLE_GATEWAY_API_STATUS",
    "PILOT_GATEWAY_API_CONTROLLER_NAME",
    "PILOT_GATEWAY_API_DEFAULT_GATEWAYCLASS_NAME",
  ],
};
