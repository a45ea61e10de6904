/**
 * The error of everything in this package that cannot be read or does not fit.
 *
 * @module
 */

/** A key, certificate, request or name that cannot be used; the message says what was expected and what came. */
export class PkiError extends Error {
  override readonly name = "PkiError";
}
