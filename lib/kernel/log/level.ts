/**
 * Log levels and the texts that set them per scope.
 *
 * @module
 */

/** Levels from the most talkative to silence. */
export const levels = ["debug", "info", "warn", "error", "fatal", "none"] as const;

/** Least severity that is written; `none` writes nothing. */
export type Level = (typeof levels)[number];

/** Severity of a line. */
export type LogSeverity = Exclude<Level, "none">;

/** Order of levels: a line is written when its rank is not below the scope's. */
export const rank: Readonly<Record<Level, number>> = { debug: 0, info: 1, warn: 2, error: 3, fatal: 4, none: 5 };

/** Name that stands for every scope. */
export const ALL = "all";

/** Scope of lines that belong to no other, and of a level given without a scope. */
export const DEFAULT_SCOPE = "default";

/** A mistake in a log flag: what was given and what was expected. */
export class LogOptionError extends Error {
  override readonly name = "LogOptionError";
}

/**
 * Reads `scope:level,scope:level`; a level alone is that of `default`.
 *
 * @param flag Name of the flag, for errors.
 * @param known Scopes of the program.
 * @throws {LogOptionError} naming the flag, the scope or level at fault, and what is known.
 */
export function parseScopeLevels(flag: string, text: string, known: readonly string[]): Map<string, Level> {
  const result = new Map<string, Level>();
  for (const part of splitNames(text)) {
    const colon = part.indexOf(":");
    const scope = colon < 0 ? DEFAULT_SCOPE : part.slice(0, colon).trim();
    const level = part.slice(colon + 1).trim();
    checkScope(flag, scope, known);
    if (!isLevel(level)) {
      throw new LogOptionError(`--${flag}: got level ${JSON.stringify(level)}, expected one of ${levels.join(", ")}`);
    }
    result.set(scope, level);
  }
  return result;
}

/**
 * Reads `scope,scope`.
 *
 * @throws {LogOptionError} naming the flag and the unknown scope.
 */
export function parseScopes(flag: string, text: string, known: readonly string[]): Set<string> {
  const names = splitNames(text);
  for (const name of names) checkScope(flag, name, known);
  return new Set(names);
}

/** True for the name of a level. */
export function isLevel(text: string): text is Level {
  return (levels as readonly string[]).includes(text);
}

function splitNames(text: string): string[] {
  return text.split(",").map((name) => name.trim()).filter((name) => name !== "");
}

function checkScope(flag: string, scope: string, known: readonly string[]): void {
  if (!known.includes(scope)) {
    throw new LogOptionError(`--${flag}: got scope ${JSON.stringify(scope)}, expected one of ${known.join(", ")}`);
  }
}
