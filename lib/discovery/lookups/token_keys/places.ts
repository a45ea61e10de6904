/**
 * The places from which keys of token issuers are fetched, and the rules that name each place.
 *
 * @module
 */
import { keyPlaceOf } from "../../../config/kinds/request_authentication/key_set.ts";
import type { JwtRule } from "../../../config/kinds/request_authentication/schema.ts";
import type { ConfigObject } from "../../../config/types.ts";

/** A rule and the place of its keys. */
export interface KeyPlaceUse {
  readonly object: Pick<ConfigObject, "kind" | "meta">;
  /** Path of the field with the place. */
  readonly field: string;
  /** The value of the field. */
  readonly value: string;
  readonly issuer: string;
  /** The rule's own timeout of a fetch, ms; absent: the rule has no timeout. */
  readonly timeout?: number;
}

/** The places in an object, by name. */
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
