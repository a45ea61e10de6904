/**
 * Conditions on the identity of a caller, which may be known in part: its trust domain and namespace, without its
 * account.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import { matchesString, NotJudged } from "./matchers.ts";
import type { SimulatedRequest } from "./types.ts";

type StringMatcher = envoy.type.matcher.v3.StringMatcher;

/** Names that no workload has: what holds for each of them holds whatever the account is. */
const PROBES = ["0-no-such-account", "z.other-such-name"] as const;

/**
 * Whether the caller's identity matches; without a matcher, whether it has one.
 *
 * @throws {NotJudged} Where that depends on a part of the identity that is not known.
 */
export function isCaller(
  matcher: StringMatcher | undefined,
  { identity, identityStart }: Pick<SimulatedRequest, "identity" | "identityStart">,
): boolean {
  if (identity !== undefined) return identity !== "" && (matcher === undefined || matchesString(matcher, identity));
  const verdict = identityStart === undefined ? undefined : matcher === undefined || ofUnknown(matcher, identityStart);
  if (verdict === undefined) throw new NotJudged("who the caller is, which a rule asks");
  return verdict;
}

/** Whether an identity with that beginning matches; undefined: some do, and others do not. */
function ofUnknown(matcher: StringMatcher, start: string): boolean | undefined {
  const found = PROBES.map((account) => matchesString(matcher, start + account));
  if (found.every((one) => one)) return true;
  const { exact, prefix, suffix, safe_regex: { regex = "" } = {} } = matcher;
  if (matcher.ignore_case || found.some((one) => one)) return undefined;
  if (exact !== undefined) return exact.startsWith(start) ? undefined : false;
  if (prefix !== undefined) return prefix.startsWith(start) ? undefined : false;
  if (suffix !== undefined) return start.endsWith(suffix.slice(0, suffix.lastIndexOf("/") + 1)) ? undefined : false;
  // An expression that ends with anything does not look at the account.
  return regex.endsWith("/.*") ? false : undefined;
}
