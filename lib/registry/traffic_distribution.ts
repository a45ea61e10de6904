/**
 * The endpoints preferred by clients of a service, from the service's field or annotation.
 *
 * @module
 */
import type { Service } from "./types.ts";

const DISTRIBUTIONS: Readonly<Record<string, "preferSameZone" | "preferSameNode">> = {
  preferclose: "preferSameZone",
  prefersamezone: "preferSameZone",
  prefersamenode: "preferSameNode",
};

/**
 * The meaning of a service's own field, or else of an annotation, in any case.
 *
 * @param field Word of `spec.trafficDistribution`. Default: none.
 * @param annotation Value of `networking.mesh.io/traffic-distribution`. Default: none.
 * @returns Undefined for unknown words: any endpoint will do.
 */
export function distributionOf(
  field: string | undefined,
  annotation: string | undefined,
): Service["trafficDistribution"] {
  return DISTRIBUTIONS[field?.toLowerCase() ?? ""] ?? DISTRIBUTIONS[annotation?.toLowerCase() ?? ""];
}
