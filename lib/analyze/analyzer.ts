/**
 * The analyzer: a pure function that gets one object (or fact) and a reader, and reports the mistakes that it finds.
 *
 * @module
 */
import type { Fact, FactKind } from "../config/facts/types.ts";
import type { FindingName } from "../finding/codes.ts";
import type { Severity } from "../finding/finding.ts";
import type { ConfigObject, Kind } from "../config/types.ts";
import type { AnalysisReader } from "./reader/reader.ts";

/** The objects that an analyzer sees. */
export type SubjectOf<K extends Kind | FactKind> = K extends Kind ? ConfigObject<K>
  : K extends FactKind ? Fact<K>
  : never;

/** Kinds whose objects may be analyzed. */
export type SubjectKind = Kind | FactKind;

/** One mistake in a report. */
export interface ReportedMistake {
  /** Path from the object: `spec.http[0].route[1].destination.host`; empty: the object as a whole. */
  readonly field: string;
  /** The value as it is written. Absent: the field is missing, or the object as a whole is meant. */
  readonly value?: unknown;
  /** The value that would be right. */
  readonly expected: string;
  /** Default: that of the catalogue. */
  readonly effect?: string;
  /** Default: that of the catalogue. */
  readonly fix?: string;
  /** Keys of other objects that have part in it, the nearest cause first. */
  readonly others?: readonly string[];
}

/** Takes the mistakes that an analyzer finds. */
export type ReportMistake = (severity: Severity, name: FindingName, mistake: ReportedMistake) => void;

/** One analyzer. It must report in the same order whenever it is asked about the same. */
export interface Analyzer<K extends SubjectKind = SubjectKind> {
  readonly kind: K;
  /** Everything that it may report. */
  readonly reports: readonly FindingName[];
  readonly analyze: (subject: SubjectOf<K>, read: AnalysisReader, report: ReportMistake) => void;
}

/** An analyzer of some kind, for the table of all: it is given subjects of its kind alone. */
export function analyzer<K extends SubjectKind>(one: Analyzer<K>): Analyzer {
  return one as unknown as Analyzer;
}
