/**
 * Log levels, and the texts of flags that set a level for each scope.
 *
 * @module
 */
import { commaList } from "../text/comma_list.ts";

/** Levels from the most talkative to silence. */
export const levels = ["debug", "info", "warn", "error", "fatal", "none"] as const;

/** Least severity of written lines. `none` writes nothing. */
export type Level = (typeof levels)[number];

/** Severity of a line. */
export type LogSeverity = Exclude<Level, "none">;

/** Order of levels: a line is written when the line's rank is not below the scope's. */
export const rank: Readonly<Record<Level, number>> = { debug: 0, info: 1, warn: 2, error: 3, fatal: 4, none: 5 };

/** The name for every scope. */
export const ALL = "all";

/** Scope of lines without another scope, and of a level without a scope. */
export const DEFAULT_SCOPE = "default";

/** A mistake in a log flag, with value and expectation. */
export class LogOptionError extends Error {
  override readonly name = "LogOptionError";
}

/**
 * Reads `scope:level,scope:level`. A level without a scope applies to `default`.
 *
 * @param flag Name of the flag, for errors.
 * @param known Scopes of the program.
 * @throws {LogOptionError} with one line for each wrong scope and level, naming the flag and the known values.
 */
export function parseScopeLevels(flag: string, text: string, known: readonly string[]): Map<string, Level> {
  const result = new Map<string, Level>();
  const problems: string[] = [];
  for (const part of commaList(text)) {
    const colon = part.indexOf(":");
    const scope = colon < 0 ? DEFAULT_SCOPE : part.slice(0, colon).trim();
    const level = part.slice(colon + 1).trim();
    problems.push(...scopeProblems(flag, [scope], known));
    if (isLevel(level)) result.set(scope, level);
    else problems.push(`--${flag}: got level ${JSON.stringify(level)}, expected one of ${levels.join(", ")}`);
  }
  if (problems.length > 0) throw new LogOptionError(problems.join("\n"));
  return result;
}

/**
 * Reads `scope,scope`.
 *
 * @throws {LogOptionError} naming the flag and each unknown scope, one line each.
 */
export function parseScopes(flag: string, text: string, known: readonly string[]): Set<string> {
  const names = commaList(text);
  const problems = scopeProblems(flag, names, known);
  if (problems.length > 0) throw new LogOptionError(problems.join("\n"));
  return new Set(names);
}

/** True for the name of a level. */
function isLevel(text: string): text is Level {
  return (levels as readonly string[]).includes(text);
}

function scopeProblems(flag: string, scopes: readonly string[], known: readonly string[]): string[] {
  return scopes.filter((scope) => !known.includes(scope)).map((scope) =>
    `--${flag}: got scope ${JSON.stringify(scope)}, expected one of ${known.join(", ")}`
  );
}
