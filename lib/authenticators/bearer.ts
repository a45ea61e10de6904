/**
 * The token in a request's `authorization` header.
 *
 * @module
 */
import { type CallerCredentials, NotAuthenticated } from "./caller.ts";

/** Most characters of a token. Tokens of orchestrators have about a thousand characters. */
const MAX_TOKEN_LENGTH = 16 * 1024;

/** RFC 6750, 2.1: a single token of the RFC's alphabet, with padding at the end only. */
const BEARER = /^(?:Bearer|Istio) +([A-Za-z0-9._~+/-]+=*)$/i;

/**
 * The token of `Bearer <token>`, or of `Istio <token>`, which some of Istio's tools send.
 *
 * @throws {NotAuthenticated} for no token, several tokens, or a token of more than {@linkcode MAX_TOKEN_LENGTH}
 */
export function bearerToken({ headers }: Pick<CallerCredentials, "headers">): string {
  const header = headers["authorization"];
  if (header === undefined || header === "") throw new NotAuthenticated("no token");
  if (header.length > MAX_TOKEN_LENGTH) {
    throw new NotAuthenticated(`got a token of ${header.length} characters, expected at most ${MAX_TOKEN_LENGTH}`);
  }
  const token = BEARER.exec(header)?.[1];
  if (token === undefined) throw new NotAuthenticated("expected one header `authorization: Bearer <token>`");
  return token;
}
