/**
 * How entries find their endpoints.
 *
 * @module
 */
import type { Resolution } from "../types.ts";

const RESOLUTIONS: Readonly<Record<string, Resolution>> = {
  NONE: "passthrough",
  STATIC: "static",
  DNS: "dns",
  DNS_ROUND_ROBIN: "dnsRoundRobin",
  DYNAMIC_DNS: "dynamicDns",
};

/** The resolution of endpoints for a `resolution` of a ServiceEntry. */
export function entryResolution(written: string): Resolution {
  return RESOLUTIONS[written] ?? "passthrough";
}

/** Whether the proxy resolves the endpoints' names, so that endpoints may be names. */
export function resolvesNames(resolution: Resolution): boolean {
  return resolution === "dns" || resolution === "dnsRoundRobin";
}
