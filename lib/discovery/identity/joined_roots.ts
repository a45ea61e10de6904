/**
 * Roots of several authorities as one text.
 *
 * @module
 */

import { type Current, CurrentValue, type TrustBundle } from "../../pki/current.ts";

/** Joins several lists of roots. Each text is kept once. */
export function joinedRoots(parts: readonly Current<string>[]): Current<string> {
  const all = () => [...new Set(parts.map((part) => part.current()))].join("");
  const joined = new CurrentValue(all());
  for (const part of parts) part.onChange(() => joined.set(all()));
  return joined;
}

/** Joins the known lists of roots; undefined: no list is known. */
export function joinedIfAny(parts: readonly (TrustBundle | undefined)[]): TrustBundle | undefined {
  const known = parts.filter((part) => part !== undefined);
  return known.length === 0 ? undefined : joinedRoots(known);
}
