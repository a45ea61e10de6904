/**
 * The places from which keys of token issuers are fetched, and the rules that name each.
 *
 * @module
 */
import { keyPlaceOf } from "../../../config/kinds/request_authentication/key_set.ts";
import type { JwtRule } from "../../../config/kinds/request_authentication/schema.ts";
import type { ConfigObject } from "../../../config/types.ts";

/** One rule that names a place. */
export interface KeyPlaceUse {
  readonly object: Pick<ConfigObject, "kind" | "meta">;
  /** Path of the field that names it. */
  readonly field: string;
  /** The value of that field. */
  readonly value: string;
  readonly issuer: string;
  /** Time that the rule gives a fetch, ms; absent: it gives none. */
  readonly timeout?: number;
}

/** The places that an object names, by name. */
export function keyPlacesOf(object: ConfigObject<"RequestAuthentication">): Map<string, KeyPlaceUse[]> {
  const places = new Map<string, KeyPlaceUse[]>();
  for (const [index, rule] of (object.spec.jwtRules ?? []).entries()) {
    const place = keyPlaceOf(rule);
    if (place === undefined) continue;
    const use = useOf(object, index, rule);
    const known = places.get(place);
    if (known) known.push(use);
    else places.set(place, [use]);
  }
  return places;
}

function useOf(object: KeyPlaceUse["object"], index: number, { issuer, jwksUri, timeout }: JwtRule): KeyPlaceUse {
  const field = `spec.jwtRules[${index}].${jwksUri === undefined ? "issuer" : "jwksUri"}`;
  return { object, field, value: jwksUri ?? issuer, issuer, ...(timeout === undefined ? {} : { timeout }) };
}
