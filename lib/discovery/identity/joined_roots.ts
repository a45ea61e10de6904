/**
 * Roots of several authorities as one text.
 *
 * @module
 */
import { type Current, CurrentValue, type TrustBundle } from "../../pki/current.ts";

/** Several lists of roots as one. */
export function joinedRoots(parts: readonly Current<string>[]): Current<string> {
  const all = () => [...new Set(parts.map((part) => part.current()))].join("");
  const joined = new CurrentValue(all());
  for (const part of parts) part.onChange(() => joined.set(all()));
  return joined;
}

/** The same of those that there are; undefined: there are none. */
export function joinedIfAny(parts: readonly (TrustBundle | undefined)[]): TrustBundle | undefined {
  const known = parts.filter((part) => part !== undefined);
  return known.length === 0 ? undefined : joinedRoots(known);
}
