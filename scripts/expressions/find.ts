/**
 * The regular expressions in the tree's sources.
 *
 * Permissions: read of the repository.
 *
 * @module
 */
import jsTokens from "js-tokens";
import { sourceFiles } from "../imports.ts";

/** Regular expressions with their places. */
export interface FoundExpressions {
  /** Literals such as `/a+b/i`, each with its places (`lib/a/b.ts:12`). */
  readonly literals: ReadonlyMap<string, readonly string[]>;
  /** Files that make an expression from text (`new RegExp`), one entry per occurrence. */
  readonly made: readonly string[];
}

/** Finds the expressions in some folders of the repository. */
export function findExpressions(root: string, folders: readonly string[]): FoundExpressions {
  const literals = new Map<string, string[]>();
  const made: string[] = [];
  for (const file of sourceFiles(root, folders)) {
    const found = expressionsOf(Deno.readTextFileSync(`${root}/${file}`));
    for (const { literal, line } of found.literals) {
      literals.getOrInsertComputed(literal, () => []).push(`${file}:${line}`);
    }
    for (let i = 0; i < found.made; i++) made.push(file);
  }
  return { literals, made };
}

/** The literals of a source with their lines, and the number of expressions made from text. */
export function expressionsOf(source: string): {
  readonly literals: readonly { readonly literal: string; readonly line: number }[];
  readonly made: number;
} {
  const literals: { literal: string; line: number }[] = [];
  let made = 0;
  let line = 1;
  let last = "";
  for (const { type, value } of jsTokens(source)) {
    if (type === "RegularExpressionLiteral") literals.push({ literal: value, line });
    if (value === "(" && last === "RegExp") made++;
    if (type !== "WhiteSpace") last = value;
    if (value.includes("\n")) line += value.split("\n").length - 1;
  }
  return { literals, made };
}
