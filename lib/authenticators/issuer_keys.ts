/**
 * Where the keys of a rule's issuer are found: in the rule, at an address, or where the issuer's OpenID configuration
 * says.
 *
 * Permissions: net (the issuer's addresses).
 *
 * @module
 */
import { z } from "zod";
import { issueLines } from "../kernel/json/issues.ts";
import { type FetchLimits, fetchText } from "../kernel/fetch/fetch_text.ts";
import type { TokenRule } from "./jwt_rule.ts";

/** Limits of fetching keys: five seconds, since a client waits, and 256 KiB; key sets have a few. */
export const KEYS_FETCH_LIMITS: FetchLimits = { timeout: 5_000, size: 256 * 1024 };

const configuration = z.object({
  issuer: z.string({ error: "the issuer" }),
  jwks_uri: z.string({ error: "the address of the keys" }),
}, { error: "an OpenID configuration" });

/**
 * Gets the key set of a rule's issuer as JSON.
 *
 * @throws Error with the address and the reason
 */
export async function fetchKeySet(rule: TokenRule, limits: FetchLimits = KEYS_FETCH_LIMITS): Promise<string> {
  if (rule.jwks !== undefined) return rule.jwks;
  return await fetchText(rule.jwksUri ?? await discoveredAddress(rule.issuer, limits), limits);
}

/** The address of the keys by OpenID Connect Discovery 1.0, section 4. */
async function discoveredAddress(issuer: string, limits: FetchLimits): Promise<string> {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const text = await fetchText(url, limits);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`${url}: expected an OpenID configuration, got no JSON`);
  }
  const { success, data, error } = configuration.safeParse(value, { reportInput: true });
  if (!success) throw new Error(`${url}: ${issueLines(error.issues).join(", ")}`);
  if (data.issuer !== issuer) {
    throw new Error(`${url}: issuer: got ${JSON.stringify(data.issuer)}, expected ${JSON.stringify(issuer)}`);
  }
  return data.jwks_uri;
}
