/**
 * Proof by a signed token (JWT) of a trusted issuer.
 *
 * @module
 */
import { errors, jwtVerify, type JWTVerifyOptions, type LocalJWKSet } from "jose";
import type { Clock } from "../kernel/time/clock.ts";
import type { WorkloadIdentity } from "../pki/spiffe.ts";
import { bearerToken } from "./bearer.ts";
import { type Authenticator, type CallerCredentials, NotAuthenticated } from "./caller.ts";
import { type ReadClaims, readClaims, unverifiedClaims } from "./claims.ts";
import type { TokenRule } from "./jwt_rule.ts";
import type { TokenKeys } from "./token_keys.ts";
import { VerifiedTokens } from "./verified_tokens.ts";
import { accountIdentity, shownText, type TrustDomains } from "./trust.ts";

/**
 * Only signatures by a private key. With shared-key algorithms, anyone with the public key could sign; without a
 * signature, anyone could.
 */
const ALGORITHMS = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];

/** Seconds by which an issuer's clock and this machine's clock may differ. */
export const CLOCK_TOLERANCE = 30;

export class JwtAuthenticator implements Authenticator {
  readonly name: string;
  readonly #rule: TokenRule;
  readonly #keys: Pick<TokenKeys, "current" | "renewed">;
  readonly #domains: () => TrustDomains;
  readonly #clock: Pick<Clock, "now">;
  readonly #verifiedTokens = new VerifiedTokens(CLOCK_TOLERANCE);

  /**
   * @param name for reasons: the setting with the rule
   * @param domains asked at each call, since the mesh configuration may change
   */
  constructor(
    name: string,
    rule: TokenRule,
    keys: Pick<TokenKeys, "current" | "renewed">,
    domains: () => TrustDomains,
    clock: Pick<Clock, "now">,
  ) {
    this.name = name;
    this.#rule = rule;
    this.#keys = keys;
    this.#domains = domains;
    this.#clock = clock;
  }

  /** {@linkcode Authenticator.authenticate} */
  async authenticate(credentials: CallerCredentials): Promise<WorkloadIdentity> {
    const { issuer, audiences } = this.#rule;
    const token = bearerToken(credentials);
    if (audiences.length === 0) throw new NotAuthenticated("the rule has no audience, and accepts nobody");
    // Checked before any key is fetched for the token.
    const { iss: named = "" } = unverifiedClaims(token);
    if (named !== issuer) throw new NotAuthenticated(`got issuer ${shownText(named)}, expected ${issuer}`);
    const { sub } = await this.#verified(token);
    return accountIdentity(sub!, this.#domains());
  }

  async #verified(token: string): Promise<ReadClaims> {
    let keys: LocalJWKSet;
    try {
      keys = await this.#keys.current();
    } catch (error) {
      throw new NotAuthenticated((error as Error).message);
    }
    try {
      return await this.#verifiedBy(token, keys);
    } catch (error) {
      // The issuer may have changed its keys.
      const mayBeNewer = error instanceof errors.JWKSNoMatchingKey ||
        error instanceof errors.JWSSignatureVerificationFailed;
      if (!mayBeNewer || !await this.#keys.renewed(keys)) throw refusalOfToken(error, this.#rule);
    }
    try {
      return await this.#verifiedBy(token, await this.#keys.current());
    } catch (error) {
      throw refusalOfToken(error, this.#rule);
    }
  }

  async #verifiedBy(token: string, keys: LocalJWKSet): Promise<ReadClaims> {
    const known = this.#verifiedTokens.find(token, keys, this.#clock.now());
    if (known !== undefined) return known;
    const claims = await this.#verify(token, keys);
    this.#verifiedTokens.keep(token, keys, claims);
    return claims;
  }

  async #verify(token: string, keys: LocalJWKSet): Promise<ReadClaims> {
    const options: JWTVerifyOptions = {
      algorithms: ALGORITHMS,
      issuer: this.#rule.issuer,
      audience: [...this.#rule.audiences],
      requiredClaims: ["exp", "sub"],
      clockTolerance: CLOCK_TOLERANCE,
      currentDate: new Date(this.#clock.now()),
    };
    try {
      return readClaims((await jwtVerify(token, keys, options)).payload);
    } catch (error) {
      // A token without a key's name may fit several keys.
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      for await (const key of error) {
        try {
          return readClaims((await jwtVerify(token, key, options)).payload);
        } catch (reason) {
          if (!(reason instanceof errors.JWSSignatureVerificationFailed)) throw reason;
        }
      }
      throw new errors.JWSSignatureVerificationFailed();
    }
  }
}

/** The reason in words. */
function refusalOfToken(error: unknown, rule: TokenRule): NotAuthenticated {
  if (error instanceof NotAuthenticated) return error;
  if (!(error instanceof errors.JOSEError)) {
    // The token chooses the key and the algorithm. A combination that the runtime cannot use proves nothing.
    return new NotAuthenticated(`the signature cannot be verified: ${(error as Error).message}`);
  }
  if (error instanceof errors.JWTExpired) return new NotAuthenticated("the token has expired");
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === "nbf") return new NotAuthenticated("the token is not valid yet");
    const got = error.payload[error.claim];
    const value = got === undefined ? "none" : shownText(typeof got === "string" ? got : JSON.stringify(got));
    const expected = error.claim === "aud" ? `, expected one of ${rule.audiences.join(", ")}` : "";
    return new NotAuthenticated(`claim ${error.claim}: got ${value}${expected}`);
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return new NotAuthenticated("the signature is not by a key of the issuer");
  }
  if (error instanceof errors.JWKSNoMatchingKey) {
    return new NotAuthenticated("the issuer has no key of the token's name and kind");
  }
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return new NotAuthenticated(`the token is not signed by one of ${ALGORITHMS.join(", ")}`);
  }
  return new NotAuthenticated(error.message);
}
