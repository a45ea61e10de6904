/**
 * Values that change while other code holds on to them: a server's certificate, a bundle of roots.
 *
 * @module
 */

/** A source of the current value and of changes. */
export interface Current<T> {
  current(): T;
  /** Calls `listener` with each new value. Returns a function that ends the calls. */
  onChange(listener: (value: T) => void): () => void;
}

/** The certificate of a TLS server, renewed while the server runs. */
export type ServerIdentity = Current<ServerCertificate>;

/** A certificate with key. */
export interface ServerCertificate {
  /** PEM: the server's own certificate, then intermediate authorities. */
  readonly certificatePem: string;
  /** PEM, PKCS#8. */
  readonly keyPem: string;
}

/** Trusted roots, as a single PEM text. */
export type TrustBundle = Current<string>;

/** A {@linkcode Current} with a setter for the owner. */
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

  /** Replaces the value. Listeners get the new value before the call returns. */
  set(value: T): void {
    this.#value = value;
    for (const listener of [...this.#listeners]) listener(value);
  }
}
