/**
 * A row of the catalogue of findings.
 *
 * @module
 */

/**
 * Number of a finding. Up to 0177 the numbers are Istio's (`MSH0101` means the same as `IST0101`). The others are our
 * own.
 */
export type FindingCode = `MSH${string}`;

/** A sort of findings. Several sorts may share a code: `MSH0101` stands for a missing host and for a missing subset. */
export interface FindingRow {
  readonly code: FindingCode;
  /** Another code where the finding is a warning: Istio has a number for each. */
  readonly warningCode?: FindingCode;
  /** A few words: "subset does not exist". */
  readonly title: string;
  /**
   * The title of a warning or an info. An advice calls nothing wrong, and an object missing in the files may exist
   * elsewhere. Default: `title`.
   */
  readonly warningTitle?: string;
  /** The meaning in a sentence. */
  readonly meaning: string;
  /** The effect for users, unless the finding describes it more exactly. */
  readonly effect: string;
  /** The effect if the finding is not an error. Default: `effect`. */
  readonly warningEffect?: string;
  /** The change that removes the finding, as advice to the user, unless the finding describes it more exactly. */
  readonly fix: string;
}
