/**
 * Tokens with a verified signature. The next call with the same token costs a hash only: an agent sends its token for
 * its stream and for each certificate.
 *
 * A verdict holds for the keys that proved the token. When the issuer publishes other keys, an old key may have been
 * withdrawn. Times are checked in each call.
 *
 * @module
 */
import { createHash } from "node:crypto";
import type { LocalJWKSet } from "jose";
import type { ReadClaims } from "./claims.ts";

/** Most kept tokens. They occupy a few MB of memory at most. */
const MOST_KEPT = 10_000;

export class VerifiedTokens {
  readonly #tolerance: number;
  readonly #kept = new Map<string, ReadClaims>();
  /** The keys that proved the kept tokens. */
  #keys: LocalJWKSet | undefined;

  /** @param tolerance Seconds by which clocks may differ. */
  constructor(tolerance: number) {
    this.#tolerance = tolerance;
  }

  /** Number of kept tokens. */
  get size(): number {
    return this.#kept.size;
  }

  /**
   * The claims of a token that the keys have proven and that is valid now; undefined: the token must be verified.
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

  /** Keeps a token that the keys have proven. */
  keep(token: string, keys: LocalJWKSet, { sub, exp, nbf }: ReadClaims): void {
    if (keys !== this.#keys) {
      this.#kept.clear();
      this.#keys = keys;
    }
    // The token that was kept first goes first.
    if (this.#kept.size >= MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
    this.#kept.set(idOf(token), {
      ...sub !== undefined && { sub },
      ...exp !== undefined && { exp },
      ...nbf !== undefined && { nbf },
    });
  }
}

/** The hash of a token. A reader of the memory cannot use the hash as a token. */
function idOf(token: string): string {
  return createHash("sha256").update(token).digest("base64");
}
