/**
 * Keys of token issuers: the source of a rule's keys, and the text for proxies.
 *
 * @module
 */
import type { JwtRule } from "./schema.ts";
import { usableKey } from "./usable_key.ts";

/** Prefix for names of places that an issuer's OpenID configuration gives. */
const DISCOVERED = "openid ";

/** The place from which keys are fetched. */
export type KeyPlace =
  | { readonly uri: string; readonly issuer?: undefined }
  /** The issuer, whose OpenID configuration names the address. */
  | { readonly issuer: string; readonly uri?: undefined };

/** The name of the place of a rule's keys, equal for equal places; undefined: the rule contains the keys. */
export function keyPlaceOf(
  { issuer, jwksUri, jwks }: Pick<JwtRule, "issuer" | "jwksUri" | "jwks">,
): string | undefined {
  if (jwks !== undefined) return undefined;
  return jwksUri ?? `${DISCOVERED}${issuer}`;
}

/** The place of a name. */
export function keyPlace(name: string): KeyPlace {
  return name.startsWith(DISCOVERED) ? { issuer: name.slice(DISCOVERED.length) } : { uri: name };
}

/** A key set without keys. */
export const EMPTY_KEY_SET = '{"keys":[]}';

/**
 * A key set for proxies: always a set, of usable keys only, without private parts. The same keys give the same text in
 * any order, so an issuer that shuffles its keys changes nothing.
 *
 * @param text a key set (RFC 7517), or one key
 * @returns Undefined: neither.
 */
export function publicKeySet(text: string): string | undefined {
  const keys = keysOf(text)?.map(usableKey).filter((key) => key !== undefined).map((key) =>
    JSON.stringify(Object.fromEntries(Object.entries(key).sort(([a], [b]) => a < b ? -1 : 1)))
  );
  return keys && `{"keys":[${[...new Set(keys)].sort().join(",")}]}`;
}

/** The keys of a key set, or a single key; undefined: neither. */
function keysOf(text: string): readonly Readonly<Record<string, unknown>>[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value)) return undefined;
    const keys: unknown = "keys" in value ? value["keys"] : [value];
    return Array.isArray(keys) && keys.every((key) => isRecord(key) && "kty" in key) ? keys : undefined;
  } catch {
    return undefined; // No JSON.
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
