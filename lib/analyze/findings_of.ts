/**
 * The findings about an object: the findings of all analyzers of its kind, without the suppressed findings.
 *
 * @module
 */
import { isMadeOfGatewayApi } from "../config/derive/made_of_gateway_api.ts";
import { titleOf } from "../finding/codes.ts";
import { type Finding, findingOf, shownName, shownValue } from "../finding/finding.ts";
import { objectName } from "../finding/object_name.ts";
import { ANALYZERS } from "./analyzers.ts";
import type { Analyzer, ReportMistake, SubjectKind, SubjectOf } from "./analyzer.ts";
import type { AnalysisReader } from "./reader/reader.ts";
import { isSuppressed, suppressedCodes } from "../finding/suppress.ts";

/** Kept findings of each object. */
const MAX_FINDINGS_OF_ONE = 100;

const BY_KIND: ReadonlyMap<SubjectKind, readonly Analyzer[]> = Map.groupBy(ANALYZERS, ({ kind }) => kind);

/** Whether there is anything to find in objects of a kind. */
export function isAnalyzed(kind: string): kind is SubjectKind {
  return BY_KIND.has(kind as SubjectKind);
}

/** All findings of an object, in the order of the analyzers. */
export function findingsOf(subject: SubjectOf<SubjectKind>, read: AnalysisReader): readonly Finding[] {
  if (isMadeOfGatewayApi(subject)) return NOTHING;
  const found: Finding[] = [];
  const codes = suppressedCodes(subject.meta.annotations);
  let reported = 0;
  const report: ReportMistake = (severity, name, mistake) => {
    // Suppressed findings count, too: a hostile object must not cost more than its shown findings.
    if (reported++ >= MAX_FINDINGS_OF_ONE) throw new EnoughFound();
    const { value, expected, effect, fix, others = [] } = mistake;
    const field = shownName(mistake.field);
    const shown = shownValue(value);
    const what = [field, shown].filter((part) => part !== "").join(": ");
    const title = titleOf(name, severity === "error");
    const message = `${title}${what === "" ? "" : `: ${what}`}, expected ${expected}`;
    const place = { objects: [subject.key, ...others].map(objectName), field, line: 0 };
    const one = findingOf(name, { severity, place, value: shown, expected, message, effect, fix });
    if (!isSuppressed(one.code, codes)) found.push(one);
  };
  try {
    for (const { analyze } of BY_KIND.get(subject.kind) ?? []) analyze(subject, read, report);
  } catch (error) {
    if (!(error instanceof EnoughFound)) throw error;
  }
  return found.length === 0 ? NOTHING : found;
}

/** Ends the analysis of an object after the last kept finding. */
class EnoughFound extends Error {
  override name = "EnoughFound";
}

const NOTHING: readonly Finding[] = Object.freeze([]);
