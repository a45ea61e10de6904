/**
 * The analyzer: a pure function of an object (or fact) and a reader. An analyzer reports mistakes.
 *
 * @module
 */
import type { Fact, FactKind } from "../config/facts/types.ts";
import type { FindingName } from "../finding/codes.ts";
import type { Severity } from "../finding/finding.ts";
import type { ConfigObject, Kind } from "../config/types.ts";
import type { AnalysisReader } from "./reader/reader.ts";

/** An object under analysis. */
export type SubjectOf<K extends Kind | FactKind> = K extends Kind ? ConfigObject<K>
  : K extends FactKind ? Fact<K>
  : never;

/** Kinds of objects with analyzers. */
export type SubjectKind = Kind | FactKind;

/** A mistake in a report. */
export interface ReportedMistake {
  /** Path from the object: `spec.http[0].route[1].destination.host`; empty: the object as a whole. */
  readonly field: string;
  /** The value as written. Absent: the field is missing, or the mistake is about the whole object. */
  readonly value?: unknown;
  /** The value that would be right. */
  readonly expected: string;
  /** Default: the effect in the catalogue. */
  readonly effect?: string;
  /** Default: the fix in the catalogue. */
  readonly fix?: string;
  /** Keys of other objects involved, the nearest cause first. */
  readonly others?: readonly string[];
}

/** Takes the mistakes found by an analyzer. */
export type ReportMistake = (severity: Severity, name: FindingName, mistake: ReportedMistake) => void;

/** A single analyzer. The same question must give the same reports in the same order. */
export interface Analyzer<K extends SubjectKind = SubjectKind> {
  readonly kind: K;
  /** Every sort of finding that the analyzer may report. */
  readonly reports: readonly FindingName[];
  readonly analyze: (subject: SubjectOf<K>, read: AnalysisReader, report: ReportMistake) => void;
}

/** An analyzer of any kind, for the table of analyzers. The table gives an analyzer only subjects of its kind. */
export function analyzer<K extends SubjectKind>(one: Analyzer<K>): Analyzer {
  return one as unknown as Analyzer;
}
