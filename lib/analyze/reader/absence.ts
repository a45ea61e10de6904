/**
 * What an unknown object proves. A folder seldom holds a whole mesh: gateways are installed elsewhere, and other teams
 * have their own repositories. So an object missing in the folder may exist elsewhere.
 *
 * @module
 */
import type { Severity } from "../../finding/finding.ts";
import type { AnalysisReader } from "./reader.ts";

/**
 * The severity of a finding about something missing: an error only if the absence is certain.
 *
 * @param tellsOfIt The texts have other objects of the sort in the place, so the missing object is a mistake.
 */
export function severityOfAbsence(read: AnalysisReader, tellsOfIt = false): Severity {
  return read.settings.whole === true || tellsOfIt ? "error" : "warning";
}
