/**
 * Paths of Ingresses as matches of a VirtualService.
 *
 * @module
 */
import type { IngressPathData } from "../config/facts/types.ts";
import type { StringMatch } from "../config/kinds/kinds.ts";

/** The match of a path. */
export interface PathMatch {
  /** A prefix is of whole segments, and a slash at its end says nothing. Undefined: every path. */
  readonly uri: StringMatch | undefined;
}

/** Texts that stand for every path where the type of the path does not say what it is. */
const EVERY_PATH = new Set(["", "*", "/*", ".*"]);

/** A match, or the expectation that the path does not meet. */
export function pathMatch({ path, pathType }: Pick<IngressPathData, "path" | "pathType">): PathMatch | string {
  if (pathType === "Exact") return checked(path, { exact: path });
  if (pathType === "Prefix") return checked(path, { prefix: path });
  if (EVERY_PATH.has(path)) return { uri: undefined };
  const stem = /^(.*)(?:\.\*|\/\*)$/s.exec(path)?.[1];
  return checked(path, stem === undefined ? { exact: path } : { prefix: stem });
}

function checked(path: string, uri: StringMatch): PathMatch | string {
  if (!path.startsWith("/")) return "a path that begins with /";
  return /[?#\s]/.test(path) ? "a path without ?, # and blanks, which no request has in its path" : { uri };
}

/** Whether a path goes before another of the same host: the longer one, of equal length the exact one. */
export function comparePaths(a: PathMatch, b: PathMatch): number {
  return lengthOf(b) - lengthOf(a) || Number(b.uri?.exact !== undefined) - Number(a.uri?.exact !== undefined);
}

function lengthOf({ uri }: PathMatch): number {
  return (uri?.exact ?? uri?.prefix ?? "").length;
}
