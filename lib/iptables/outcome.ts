/**
 * How a run reports its steps, and why a run fails.
 *
 * @module
 */

/** Receives a message for each step. */
export interface Reporter {
  info(message: string): void;
  warn(message: string): void;
}

/** Why redirection cannot be set up. Each line of the message is one reason. */
export class ApplyError extends Error {
  override readonly name = "ApplyError";
}
