/**
 * What is known of the secrets that a proxy's TLS asks for.
 *
 * @module
 */

/** The part of a credential that TLS asks for. */
export type SecretPart = "certificate" | "authorities";

/** Why a secret is not sent, or (not certain) may not be: in words that follow its name. */
export interface UnsentSecret {
  readonly why: string;
  readonly isCertain: boolean;
}

/** A secret that TLS needs and may not have. */
export interface LackedSecret extends UnsentSecret {
  /** As the proxy asks for it: `kubernetes://shop-tls`. */
  readonly name: string;
}

/** Tells of a secret, by its name as the proxy asks for it. */
export type SecretLookup = (name: string, part: SecretPart) => UnsentSecret | undefined;
