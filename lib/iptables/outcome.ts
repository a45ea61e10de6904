/**
 * How a run reports its steps, and why a run fails.
 *
 * @module
 */

/** Hears of each step. */
export interface Reporter {
  info(message: string): void;
  warn(message: string): void;
}

/** Why redirection cannot be as wanted: each reason is a line. */
export class ApplyError extends Error {
  override readonly name = "ApplyError";
}
