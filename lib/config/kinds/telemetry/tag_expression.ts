/**
 * Expressions of CEL for values of tags of metrics.
 *
 * @module
 */
import { celProblem } from "../../validation/cel.ts";

/** Makes a text of a number; Envoy does that by itself, and lacks the function. */
const MADE_TEXT = /^\s*string\(([^()]*)\)\s*$/;

/** The expression as proxies can compile it, or why they cannot. */
export function tagExpression(written: string): { readonly expression: string } | { readonly problem: string } {
  const expression = written.replace(MADE_TEXT, "$1");
  const problem = celProblem(expression);
  return problem === undefined ? { expression } : { problem };
}
