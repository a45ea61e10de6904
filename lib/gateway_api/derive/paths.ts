/**
 * Changes of paths by redirects and rewrites.
 *
 *     /foo/bar with prefix /foo    replaced by /xyz or /xyz/: /xyz/bar    replaced by / or nothing: /bar
 *     /foo     with prefix /foo    replaced by /xyz or /xyz/: /xyz        replaced by / or nothing: /
 *
 * @module
 */
import type { PathModifier } from "../../config/kinds/kinds.ts";
import { withoutEnd } from "../../kernel/text/edges.ts";
import { literally } from "./expressions.ts";
import type { ReportRefusal } from "./refusal.ts";

/** A change of a path. */
export type PathChange =
  | { readonly full: string }
  | { readonly prefix: string }
  | { readonly regex: { readonly match: string; readonly rewrite: string } };

/** The path stays as it is. */
export const NO_CHANGE = "none";

/**
 * The change of a path.
 *
 * @param prefix The prefix that the match takes, without slashes at the end. Undefined: the match has no prefix.
 * @returns Undefined if the change is impossible; the reason is reported.
 */
export function pathChange(
  { type, replaceFullPath, replacePrefixMatch }: PathModifier,
  prefix: string | undefined,
  field: string,
  report: ReportRefusal,
): PathChange | typeof NO_CHANGE | undefined {
  // Without a slash the new path would continue the host of a redirect.
  if (type === "ReplaceFullPath") return { full: withSlash(replaceFullPath ?? "") };
  if (prefix === undefined) {
    report("InvalidFilter", `${field}.type`, type, "ReplaceFullPath: a match of the rule has no path prefix");
    return undefined;
  }
  const replacement = withoutEnd(withSlash(replacePrefixMatch ?? ""), "/");
  if (prefix === "") return replacement === "" ? NO_CHANGE : { prefix: `${replacement}/` };
  if (replacement !== "") return { prefix: replacement };
  return { regex: { match: `^${literally(prefix)}/*`, rewrite: "/" } };
}

function withSlash(path: string): string {
  return path.startsWith("/") ? path : `/${path}`;
}
