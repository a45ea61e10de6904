/**
 * The memory of an Envoy by its configuration, between measured rows.
 *
 * @module
 */
import { onLine } from "./interpolate.ts";
import { MEASURED } from "./measured.ts";
import { ENVOY } from "./series.ts";

/**
 * Resident memory of an Envoy without requests, in MiB. A part of the configuration takes that part of the memory above
 * the memory of an Envoy without services.
 *
 * @param services Services of the whole configuration.
 * @param part The part of the configuration that the Envoy has, from 0 to 1.
 */
export function envoyMemory(services: number, part = 1): number {
  const none = onLine(MEASURED, ENVOY, 0).value;
  return none + (onLine(MEASURED, ENVOY, services).value - none) * part;
}
