/**
 * `JWT_RULE`: the tokens that prove an identity, as JSON.
 *
 * @module
 */
import * as z from "zod";
import { issueLines } from "../kernel/json/issues.ts";
import { isBaseAddress, isWebAddress, WEB_ADDRESS } from "../kernel/fetch/web_address.ts";

/** An issuer whose tokens are accepted. */
export interface TokenRule {
  /** Required value of claim `iss`. */
  readonly issuer: string;
  /** Where the issuer's keys are; undefined: in `jwks`, or where the issuer's OpenID configuration says. */
  readonly jwksUri?: string;
  /** The issuer's keys, as JSON. */
  readonly jwks?: string;
  /** Claim `aud` must hold one of the audiences. An empty list accepts nobody. */
  readonly audiences: readonly string[];
}

const webAddress = z.string({ error: WEB_ADDRESS }).refine(isWebAddress, { error: WEB_ADDRESS });

/** Both spellings of the fields, as in protobuf's JSON. Further fields of a JWT rule are ignored. */
const schema = z.looseObject({
  issuer: z.string({ error: "the issuer of the tokens" }).min(1, { error: "the issuer of the tokens" }),
  jwksUri: webAddress.optional(),
  jwks_uri: webAddress.optional(),
  jwks: z.string({ error: "a JSON Web Key Set as text" }).optional(),
  audiences: z.array(z.string({ error: "an audience" }), { error: "a list of audiences" }).optional(),
}, { error: "an object with issuer, jwks_uri and audiences" });

/**
 * Reads a rule.
 *
 * @throws TypeError that names every field at fault, with value and expectation, one per line
 */
export function parseTokenRule(text: string): TokenRule {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new TypeError(`the rule: expected JSON (${(error as Error).message})`);
  }
  const { success, data, error } = schema.safeParse(value, { reportInput: true });
  if (!success) throw new TypeError(issueLines(error.issues, "the rule").join("\n"));
  const { issuer, jwks, audiences = [] } = data;
  const jwksUri = data.jwksUri ?? data.jwks_uri;
  if (jwksUri === undefined && jwks === undefined && !isBaseAddress(issuer)) {
    throw new TypeError(
      `jwks_uri: got none, expected ${WEB_ADDRESS}, because issuer ${JSON.stringify(issuer)} is not an address`,
    );
  }
  return {
    issuer,
    audiences,
    ...(jwksUri === undefined ? {} : { jwksUri }),
    ...(jwks === undefined || jwks === "" ? {} : { jwks }),
  };
}
