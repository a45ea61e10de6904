/**
 * Values that others hold on to while they change: a server's certificate, a bundle of roots.
 *
 * @module
 */

/** A value of now, and word of the next one. */
export interface Current<T> {
  current(): T;
  /** Calls `listener` with each new value; returns what ends that. */
  onChange(listener: (value: T) => void): () => void;
}

/** The certificate that a TLS server shows, renewed while it runs. */
export type ServerIdentity = Current<ServerCertificate>;

/** A certificate with its key. */
export interface ServerCertificate {
  /** PEM: the server's own certificate, then its intermediate authorities. */
  readonly certificatePem: string;
  /** PEM, PKCS#8. */
  readonly keyPem: string;
}

/** Roots that are trusted, as one PEM text. */
export type TrustBundle = Current<string>;

/** A {@linkcode Current} that its owner sets. */
export class CurrentValue<T> implements Current<T> {
  #value: T;
  readonly #listeners = new Set<(value: T) => void>();

  constructor(value: T) {
    this.#value = value;
  }

  current(): T {
    return this.#value;
  }

  onChange(listener: (value: T) => void): () => void {
    // The same function may listen twice.
    const own = (value: T) => listener(value);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Replaces the value; listeners hear of it before this returns. */
  set(value: T): void {
    this.#value = value;
    for (const listener of [...this.#listeners]) listener(value);
  }
}
