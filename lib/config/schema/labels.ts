/**
 * Labels against wanted labels.
 *
 * @module
 */
import type { StringMap } from "./json.ts";

/** Whether labels have all wanted labels with the wanted values. No wanted label: true. */
export function carriesLabels(labels: StringMap, wanted: StringMap): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}
