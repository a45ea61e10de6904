/**
 * The error of this package for unreadable and unsuitable input.
 *
 * @module
 */

/** An unusable key, certificate, request or name. The message gives the expectation and the input. */
export class PkiError extends Error {
  override readonly name = "PkiError";
}
