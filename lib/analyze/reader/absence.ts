/**
 * The severity of findings about missing objects. A folder seldom holds a whole mesh: gateways are installed elsewhere,
 * and other teams have their own repositories. So an object that is missing in the folder may exist elsewhere.
 *
 * @module
 */
import type { Severity } from "../../finding/finding.ts";
import type { AnalysisReader } from "./reader.ts";

/**
 * The severity of a finding about something missing: an error only if the absence is certain.
 *
 * @param isPlaceKnown Whether the folder holds the place of the missing object, for example other objects of the same
 * namespace. Then the object would be in the folder, too.
 */
export function severityOfAbsence(read: AnalysisReader, isPlaceKnown = false): Severity {
  return read.settings.whole === true || isPlaceKnown ? "error" : "warning";
}
