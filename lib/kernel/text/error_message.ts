/**
 * The text of a caught value.
 *
 * @module
 */

/** The message of an error, or the text of any other thrown value. */
export function errorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
