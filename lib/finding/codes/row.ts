/**
 * One row of the catalogue of findings.
 *
 * @module
 */

/** Number of a finding. Up to 0177 it is Istio's own (`MSH0101` means the same as `IST0101`); all others are ours. */
export type FindingCode = `MSH${string}`;

/** One sort of findings. Several sorts may share a code: a host and a subset that do not exist are both `MSH0101`. */
export interface FindingRow {
  readonly code: FindingCode;
  /** Another code where the finding is a warning: Istio has a number for each. */
  readonly warningCode?: FindingCode;
  /** A few words: "subset does not exist". */
  readonly title: string;
  /**
   * The same where the finding is no error: an advice calls nothing wrong, and what files do not have may be elsewhere.
   * Default: `title`.
   */
  readonly warningTitle?: string;
  /** One sentence. */
  readonly meaning: string;
  /** Its effect for users, unless the finding says it more exactly. */
  readonly effect: string;
  /** The same where the finding is no error. Default: `effect`. */
  readonly warningEffect?: string;
  /** The change that removes it, as advice to the user, unless the finding says it more exactly. */
  readonly fix: string;
}
