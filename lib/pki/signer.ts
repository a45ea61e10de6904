/**
 * Makers of signatures: what issuing needs of a key, whoever does the arithmetic.
 *
 * @module
 */

/** A key as issuing sees it. */
export interface SigningKey {
  /** The AlgorithmIdentifier of its signatures, in DER. */
  readonly signatureAlgorithm: Uint8Array;
  /** The signature of some bytes, in the form that certificates have. It holds the event loop for less than 0.1 ms. */
  sign(body: Uint8Array): Promise<Uint8Array>;
}

/** A key that something beside this runtime holds, until it is given back. */
export interface Signer extends SigningKey {
  /** Gives the key back when the signatures that are under way are made. A second call does nothing. */
  release(): void;
}
