/**
 * The endpoints that a service's clients get beside the healthy ones.
 *
 * @module
 */
import type { Service } from "../../registry/types.ts";
import type { TranslateSettings } from "../reader/settings.ts";

/**
 * Unhealthy endpoints are sent by setting, and where traffic prefers near endpoints: there the proxy needs to know how
 * many of the near ones are down to spill over to others.
 */
export function sendsUnhealthy(settings: TranslateSettings, service: Service): boolean {
  return settings.sendUnhealthyEndpoints ||
    (service.trafficDistribution !== undefined && service.trafficDistribution !== "any");
}

/** Draining endpoints are sent to services with sticky sessions only: those sessions may end there. */
export function sendsDraining(settings: TranslateSettings, service: Service): boolean {
  const { persistentSessionLabel: cookie, persistentSessionHeaderLabel: header } = settings;
  return (cookie !== "" && !!service.labels[cookie]) || (header !== "" && !!service.labels[header]);
}
