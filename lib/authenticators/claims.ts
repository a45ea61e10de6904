/**
 * The claims of a token (RFC 7519, 4.1), read by a schema: a token is foreign JSON, whoever signed the token.
 *
 * @module
 */
import { decodeJwt } from "jose";
import * as z from "zod";
import { issueLines } from "../kernel/json/issues.ts";
import { NotAuthenticated } from "./caller.ts";

const text = z.string({ error: "a text" });
const seconds = z.number({ error: "seconds since 1970" });

const schema = z.object({
  iss: text.optional(),
  sub: text.optional(),
  aud: z.union([text, z.array(text)], { error: "a text, or a list of texts" }).optional(),
  exp: seconds.optional(),
  nbf: seconds.optional(),
}, { error: "an object of claims" });

/** The claims in use. Other claims of the token are left out. */
export type ReadClaims = z.infer<typeof schema>;

/**
 * The claims of a payload.
 *
 * @throws {NotAuthenticated} naming every claim of another form, with value and expectation
 */
export function readClaims(payload: unknown): ReadClaims {
  const { success, data, error } = schema.safeParse(payload, { reportInput: true });
  if (success) return data;
  throw new NotAuthenticated(issueLines(error.issues, "the claims").map((line) => `claim ${line}`).join(", "));
}

/**
 * The claims of a token with an unverified signature.
 *
 * @throws {NotAuthenticated} when the text is not a token, or a claim has another form
 */
export function unverifiedClaims(token: string): ReadClaims {
  let payload: unknown;
  try {
    payload = decodeJwt(token);
  } catch {
    throw new NotAuthenticated("expected a signed token (JWT)");
  }
  return readClaims(payload);
}
