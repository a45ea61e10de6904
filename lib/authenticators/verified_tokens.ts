/**
 * Tokens whose signature was verified, so that the next call with one costs a hash: an agent shows its token for its
 * stream and for each certificate.
 *
 * A verdict holds for the keys that proved it: with others, whoever published them may have taken the old one back. Times
 * are looked at in each call.
 *
 * @module
 */
import { createHash } from "node:crypto";
import type { LocalJWKSet } from "jose";
import type { ReadClaims } from "./claims.ts";

/** Most tokens that are kept, so that whoever has many holds a few MB of memory at most. */
const MOST_KEPT = 10_000;

export class VerifiedTokens {
  readonly #tolerance: number;
  readonly #kept = new Map<string, ReadClaims>();
  /** Those that proved what is kept. */
  #keys: LocalJWKSet | undefined;

  /** @param tolerance Seconds by which clocks may differ. */
  constructor(tolerance: number) {
    this.#tolerance = tolerance;
  }

  /** How many are kept. */
  get size(): number {
    return this.#kept.size;
  }

  /**
   * The claims of a token that these keys have proven and that is valid now; undefined: it has to be verified.
   *
   * @param now milliseconds since 1970
   */
  find(token: string, keys: LocalJWKSet, now: number): ReadClaims | undefined {
    if (keys !== this.#keys) return undefined;
    const id = idOf(token);
    const claims = this.#kept.get(id);
    if (claims === undefined) return undefined;
    const seconds = Math.floor(now / 1000);
    const { exp = -Infinity, nbf = -Infinity } = claims;
    if (exp > seconds - this.#tolerance && nbf <= seconds + this.#tolerance) return claims;
    this.#kept.delete(id);
    return undefined;
  }

  /** These keys have proven a token. */
  keep(token: string, keys: LocalJWKSet, { sub, exp, nbf }: ReadClaims): void {
    if (keys !== this.#keys) {
      this.#kept.clear();
      this.#keys = keys;
    }
    // The one that was proven first goes first.
    if (this.#kept.size >= MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
    this.#kept.set(idOf(token), {
      ...sub !== undefined && { sub },
      ...exp !== undefined && { exp },
      ...nbf !== undefined && { nbf },
    });
  }
}

/** The hash of a token: what is kept proves nothing to who reads memory. */
function idOf(token: string): string {
  return createHash("sha256").update(token).digest("base64");
}
