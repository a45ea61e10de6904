/**
 * The endpoints that clients of a service get beside the healthy ones.
 *
 * @module
 */
import type { Service } from "../../registry/types.ts";
import type { TranslateSettings } from "../reader/settings.ts";

/**
 * Whether unhealthy endpoints are sent: by setting, or where traffic prefers near endpoints. To spill over, the proxy
 * must know how many near endpoints are down.
 */
export function sendsUnhealthy(settings: TranslateSettings, service: Service): boolean {
  return settings.sendUnhealthyEndpoints ||
    (service.trafficDistribution !== undefined && service.trafficDistribution !== "any");
}

/**
 * Whether draining endpoints are sent: only for services with sticky sessions, which may end at a draining endpoint.
 */
export function sendsDraining(settings: TranslateSettings, service: Service): boolean {
  const { persistentSessionLabel: cookie, persistentSessionHeaderLabel: header } = settings;
  return (cookie !== "" && !!service.labels[cookie]) || (header !== "" && !!service.labels[header]);
}
