/**
 * Issuer and audience of the server's own token: where nothing else is configured, callers' tokens come from the same
 * issuer.
 *
 * @module
 */
import { unverifiedClaims } from "./claims.ts";

/** Where a token of the server lies: our path, and Istio's. */
export const OWN_TOKEN_FILES = ["./var/run/secrets/tokens/mesh-token", "./var/run/secrets/tokens/istio-token"] as const;

/** A token's claims about its origin; empty: the claim is missing. */
export interface OwnTokenClaims {
  readonly issuer: string;
  readonly audiences: readonly string[];
}

/**
 * Reads the claims of the server's own token, without verifying the signature.
 *
 * @throws TypeError when the text is not a token
 */
export function ownTokenClaims(token: string): OwnTokenClaims {
  try {
    const { iss = "", aud = [] } = unverifiedClaims(token.trim());
    return { issuer: iss, audiences: typeof aud === "string" ? [aud] : aud };
  } catch (error) {
    throw new TypeError(`expected a token (JWT): ${(error as Error).message}`);
  }
}
