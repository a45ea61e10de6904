/**
 * When a certificate is renewed.
 *
 * @module
 */

/** The share of a lifetime that a certificate is renewed before its end. */
export interface RenewalOptions {
  /** 0 to 1: 0.5 renews at half of the lifetime. */
  readonly graceRatio: number;
  /** The share is drawn from `graceRatio` less this to `graceRatio` and this. Default 0. */
  readonly jitter?: number;
  /** A number from 0 up to 1. Needed with a jitter. */
  readonly random?: () => number;
}

/** Milliseconds since 1970 at which a certificate should be renewed, from its beginning to its end. */
export function renewalTime(
  { notBefore, notAfter }: { readonly notBefore: number; readonly notAfter: number },
  { graceRatio, jitter = 0, random = () => 0.5 }: RenewalOptions,
): number {
  const ratio = Math.min(1, Math.max(0, graceRatio + (2 * random() - 1) * jitter));
  return notAfter - ratio * (notAfter - notBefore);
}
