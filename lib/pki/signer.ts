/**
 * The signing interface for issuing certificates, independent of the library behind it.
 *
 * @module
 */

/** A key for issuing. */
export interface SigningKey {
  /** The AlgorithmIdentifier of the key's signatures, in DER. */
  readonly signatureAlgorithm: Uint8Array;
  /** The signature of bytes, in the form of certificates. Holds the event loop for less than 0.1 ms. */
  sign(body: Uint8Array): Promise<Uint8Array>;
}

/** A key held outside the runtime until it is released. */
export interface Signer extends SigningKey {
  /** Releases the key after the pending signatures. A second call does nothing. */
  release(): void;
}
