/**
 * The simulator's knowledge about the secrets for a proxy's TLS.
 *
 * @module
 */

/** The part of a credential that TLS needs. */
export type SecretPart = "certificate" | "authorities";

/** Why a secret is not sent, or may not be sent (not certain). The words follow the secret's name. */
export interface UnsentSecret {
  readonly why: string;
  readonly isCertain: boolean;
}

/** A needed secret that the proxy may not have. */
export interface LackedSecret extends UnsentSecret {
  /** The name in the proxy's request: `kubernetes://shop-tls`. */
  readonly name: string;
}

/** Looks a secret up by the name in the proxy's request. */
export type SecretLookup = (name: string, part: SecretPart) => UnsentSecret | undefined;
