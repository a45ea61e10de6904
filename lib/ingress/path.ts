/**
 * Paths of Ingresses as matches of a VirtualService.
 *
 * @module
 */
import type { IngressPathData } from "../config/facts/types.ts";
import type { StringMatch } from "../config/kinds/kinds.ts";

/** The match of a path. */
export interface PathMatch {
  /** A prefix means whole segments; a slash at its end has no meaning. Undefined: every path. */
  readonly uri: StringMatch | undefined;
}

/** Texts for every path, if the type of the path does not say how to compare. */
const EVERY_PATH = new Set(["", "*", "/*", ".*"]);

/** A match, or the expectation if the path cannot be matched. */
export function pathMatch({ path, pathType }: Pick<IngressPathData, "path" | "pathType">): PathMatch | string {
  if (pathType === "Exact") return checked(path, { exact: path });
  if (pathType === "Prefix") return checked(path, { prefix: path });
  if (EVERY_PATH.has(path)) return { uri: undefined };
  const stem = /^(.*)(?:\.\*|\/\*)$/s.exec(path)?.[1];
  return checked(path, stem === undefined ? { exact: path } : { prefix: stem });
}

function checked(path: string, uri: StringMatch): PathMatch | string {
  if (!path.startsWith("/")) return "a path that begins with /";
  return /[?#\s]/.test(path) ? "a path without ?, # and blanks: no request has these in its path" : { uri };
}

/** Orders the paths of a host: longer paths first, and exact paths before prefixes of the same length. */
export function comparePaths(a: PathMatch, b: PathMatch): number {
  return lengthOf(b) - lengthOf(a) || Number(b.uri?.exact !== undefined) - Number(a.uri?.exact !== undefined);
}

function lengthOf({ uri }: PathMatch): number {
  return (uri?.exact ?? uri?.prefix ?? "").length;
}
