/**
 * Where the keys of a rule's issuer are found: in the rule, at an address, or where the issuer's OpenID configuration
 * says.
 *
 * Permissions: net (the issuer's addresses).
 *
 * @module
 */
import * as z from "zod";
import { issueLines } from "../kernel/json/issues.ts";
import { type FetchLimits, fetchText } from "../kernel/fetch/fetch_text.ts";
import { BASE_ADDRESS, isBaseAddress, isWebAddress, shownAddress, WEB_ADDRESS } from "../kernel/fetch/web_address.ts";
import type { TokenRule } from "./jwt_rule.ts";

/** Limits of fetching keys: five seconds, since a client waits, and 256 KiB; key sets have a few. */
export const KEYS_FETCH_LIMITS: FetchLimits = { timeout: 5_000, size: 256 * 1024 };

/** Gets the text at an address. Rejects with an Error that names the address and the reason. */
export type TextFetcher = (url: string) => Promise<string>;

const configuration = z.object({
  issuer: z.string({ error: "the issuer" }),
  jwks_uri: z.string({ error: "the address of the keys" }),
}, { error: "an OpenID configuration" });

/**
 * Gets the key set of a rule's issuer as JSON.
 *
 * @throws Error with the address and the reason
 */
export async function fetchKeySet(
  rule: Pick<TokenRule, "issuer" | "jwks" | "jwksUri">,
  get: TextFetcher = (url) => fetchText(url, KEYS_FETCH_LIMITS),
): Promise<string> {
  if (rule.jwks !== undefined) return rule.jwks;
  return await get(rule.jwksUri ?? await discoveredAddress(rule.issuer, get));
}

/**
 * The address of the keys by OpenID Connect Discovery 1.0, sections 3 and 4. An issuer with an https address must not
 * name an http address for its keys.
 */
async function discoveredAddress(issuer: string, get: TextFetcher): Promise<string> {
  // OpenID Connect Discovery 1.0, 3: an issuer has no query and no fragment.
  if (!isBaseAddress(issuer)) {
    const got = JSON.stringify(shownAddress(issuer));
    throw new Error(
      `issuer ${got} is not an address (${BASE_ADDRESS}), and the rule gives no address of the issuer's keys`,
    );
  }
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const text = await get(url);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`${url}: expected an OpenID configuration, got text that is not JSON`);
  }
  const { success, data, error } = configuration.safeParse(value, { reportInput: true });
  if (!success) throw new Error(`${url}: ${issueLines(error.issues).join(", ")}`);
  if (data.issuer !== issuer) {
    throw new Error(`${url}: issuer: got ${JSON.stringify(data.issuer)}, expected ${JSON.stringify(issuer)}`);
  }
  if (!isWebAddress(data.jwks_uri)) {
    const got = JSON.stringify(shownAddress(data.jwks_uri));
    throw new Error(`${url}: jwks_uri: got ${got}, expected ${WEB_ADDRESS}`);
  }
  const isSecure = (address: string) => /^https:/i.test(address);
  if (isSecure(issuer) && !isSecure(data.jwks_uri)) {
    throw new Error(`${url}: jwks_uri: got ${JSON.stringify(data.jwks_uri)}, expected an https:// address`);
  }
  return data.jwks_uri;
}
