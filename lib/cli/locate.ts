/**
 * Finds the command of a command line, and the flags of this command.
 *
 * @module
 */
import { type Command, inheritedFlags, localFlags, type Located, subcommand } from "./command.ts";
import type { Flag, FlagSet } from "./flag.ts";

/** False for switches and help, which need no value. */
export function takesValue(flag: Flag): boolean {
  return flag.type !== "bool";
}

/** All flags of a command, with inherited flags. */
export function flagsOf(located: Located): FlagSet {
  return Object.assign(inheritedFlags(located), localFlags(located));
}

/** Flag of a one-letter name. */
export function byShort(flags: FlagSet, letter: string): string | undefined {
  return Object.keys(flags).find((name) => flags[name]?.short === letter);
}

/** Our name of a flag in Istio's spelling. Other names are unchanged. */
export function byLong(flags: FlagSet, typed: string): string {
  if (flags[typed] !== undefined) return typed;
  return Object.keys(flags).find((name) => flags[name]?.also?.includes(typed) === true) ?? typed;
}

/** The command of a command line. */
export interface Addressed extends Located {
  /** The line without the commands' names. */
  readonly rest: readonly string[];
  /** The first argument: the first word that is not a command's name. */
  readonly argument: string | undefined;
}

/** Finds the command of a command line. */
export function locate(root: Command, args: readonly string[]): Addressed {
  let line: Command[] = [root];
  let command = root;
  let argument: string | undefined;
  const rest = [...args];
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? "";
    if (word === "--") break;
    if (word.startsWith("-") && word !== "-") {
      if (valueFollows(flagsOf({ command, line }), word)) at++;
      continue;
    }
    const next = subcommand(command, word);
    if (next === undefined) {
      argument = word;
      break;
    }
    rest.splice(at--, 1);
    command = next;
    line = [...line, next];
  }
  return { command, line, rest, argument };
}

/** True when the next word is the value of the flag in `word`. */
function valueFollows(flags: FlagSet, word: string): boolean {
  if (word.includes("=")) return false;
  if (word.startsWith("--")) {
    const flag = flags[byLong(flags, word.slice(2))];
    return flag !== undefined && takesValue(flag);
  }
  for (let i = 1; i < word.length; i++) {
    const flag = flags[byShort(flags, word[i] ?? "") ?? ""];
    if (flag === undefined) return false;
    if (takesValue(flag)) return i === word.length - 1;
  }
  return false;
}
