/**
 * What follows from an object that is not known. A folder seldom has all of a mesh: gateways are installed elsewhere, and
 * other teams have their own repositories. So what is missing in it may be there.
 *
 * @module
 */
import type { Severity } from "../../finding/finding.ts";
import type { AnalysisReader } from "./reader.ts";

/**
 * The severity of a finding that something is not there: an error only where that is known.
 *
 * @param tellsOfIt The texts have others of the sort in that place, so that a missing one is a mistake rather than elsewhere.
 */
export function severityOfAbsence(read: AnalysisReader, tellsOfIt = false): Severity {
  return read.settings.whole === true || tellsOfIt ? "error" : "warning";
}
