/**
 * The endpoints that clients of a service prefer, read from the words of its field or its annotation.
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
 * @param field Word of `spec.trafficDistribution`. Default: it has none.
 * @param annotation Value of `networking.mesh.io/traffic-distribution`. Default: there is none.
 * @returns Undefined for words that are not known: any endpoint will do.
 */
export function distributionOf(
  field: string | undefined,
  annotation: string | undefined,
): Service["trafficDistribution"] {
  return DISTRIBUTIONS[field?.toLowerCase() ?? ""] ?? DISTRIBUTIONS[annotation?.toLowerCase() ?? ""];
}
