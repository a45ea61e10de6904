/**
 * A checker's verdict about the worst-case time of a regular expression.
 *
 * @module
 */
// @ts-types="npm:recheck@4.5.0"
import recheck from "recheck/lib/browser.js";

export type ExpressionVerdict =
  | { readonly kind: "linear" }
  /** With a text as proof, as a JavaScript expression. */
  | { readonly kind: "slow"; readonly growth: string; readonly attack: string }
  /** Looks ahead or behind, refers back, or is too big for the checker. */
  | { readonly kind: "undecided"; readonly reason: string };

/**
 * Judges a literal such as `/a+b/i` with automata only, which decide for every text: a search for slow texts proves
 * nothing when it finds none.
 *
 * @param patience Time limit, ms. Afterwards the verdict is `undecided`.
 */
export function judgeExpression(literal: string, patience: number): ExpressionVerdict {
  const end = literal.lastIndexOf("/");
  // The checker does not know `v`, which differs from `u` only in nested sets.
  const flags = literal.slice(end + 1).replace("v", "u");
  const found = recheck.checkSync(literal.slice(1, end), flags, { checker: "automaton", timeout: patience });
  if (found.status === "safe") return { kind: "linear" };
  if (found.status === "unknown") return { kind: "undecided", reason: found.error.kind };
  return { kind: "slow", growth: found.complexity.summary, attack: found.attack.pattern };
}
