/**
 * Expressions of CEL for values of tags of metrics.
 *
 * @module
 */
import { celProblem } from "../../validation/cel.ts";

/** Converts a number to a text. Envoy converts by itself, and lacks the function. */
const MADE_TEXT = /^\s*string\(([^()]*)\)\s*$/;

/** The expression for proxies, or why proxies cannot compile the expression. */
export function tagExpression(written: string): { readonly expression: string } | { readonly problem: string } {
  const expression = written.replace(MADE_TEXT, "$1");
  const problem = celProblem(expression);
  return problem === undefined ? { expression } : { problem };
}
