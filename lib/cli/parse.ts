/**
 * Command line to command, flag values and arguments, with the semantics of the field's flag library: `--flag v`,
 * `--flag=v`, `-n v`, `-nv`, `-n=v`, grouped switches, `--`; flags before or after arguments; global flags anywhere.
 *
 * @module
 */
import { type Command, inheritedFlags, localFlags, type Located, pathOf, subcommand, UsageError } from "./command.ts";
import type { Flag, FlagSet, FlagValue } from "./flag.ts";
import { parseFlagValue } from "./flag_value.ts";
import { nearestName } from "../kernel/text/nearest.ts";

/** What a command line means. */
export interface ParsedLine extends Located {
  readonly values: Readonly<Record<string, FlagValue>>;
  readonly given: ReadonlySet<string>;
  readonly args: readonly string[];
  /** `--help` or `-h` was among the flags: nothing else is checked. */
  readonly help: boolean;
}

/** Switches that take no value, and help, which every command has. */
export function takesValue(flag: Flag): boolean {
  return flag.type !== "bool";
}

/** All flags that hold for a command. */
export function flagsOf(located: Located): FlagSet {
  return Object.assign(inheritedFlags(located), localFlags(located));
}

/** Flag of a one-letter name. */
export function byShort(flags: FlagSet, letter: string): string | undefined {
  return Object.keys(flags).find((name) => flags[name]?.short === letter);
}

/** Our name of a flag that is typed in the field's spelling; else the name as typed. */
function byLong(flags: FlagSet, typed: string): string {
  if (flags[typed] !== undefined) return typed;
  return Object.keys(flags).find((name) => flags[name]?.also?.includes(typed) === true) ?? typed;
}

/** The command that a line addresses. */
export interface Addressed extends Located {
  /** The line without the commands' names. */
  readonly rest: readonly string[];
  /** The first argument: the word that is no command's name. */
  readonly argument: string | undefined;
}

/** Finds the command that a line addresses. */
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
export function valueFollows(flags: FlagSet, word: string): boolean {
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

/** State of one parse. */
interface ParseProgress {
  readonly flags: FlagSet;
  readonly path: string;
  readonly values: Record<string, FlagValue>;
  readonly given: Set<string>;
  help: boolean;
}

/**
 * Parses a command line.
 *
 * @param root The program.
 * @param args Its arguments.
 * @param env Variables, for flags that pair with one.
 * @throws {UsageError} one line that names what is wrong and what to do.
 */
export function parseLine(
  root: Command,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): ParsedLine {
  const { command, line, rest } = locate(root, args);
  const located = { command, line };
  const flags = flagsOf(located);
  const progress: ParseProgress = {
    flags,
    path: pathOf(located),
    values: Object.create(null),
    given: new Set(),
    help: false,
  };
  const positional: string[] = [];
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? "";
    if (word === "--") {
      positional.push(...rest.slice(at + 1));
      break;
    }
    if (!word.startsWith("-") || word === "-") positional.push(word);
    else if (word.startsWith("--")) at += longFlag(progress, word, rest[at + 1]);
    else at += shortFlags(progress, word, rest[at + 1]);
  }
  const result = { ...located, values: progress.values, given: progress.given, args: positional, help: progress.help };
  if (progress.help) return result;
  fromVariables(progress, env);
  for (const [name, flag] of Object.entries(flags)) progress.values[name] ??= flag.default;
  checkExclusive(command, progress);
  checkArguments(located, positional);
  return result;
}

/** Reads `--name` or `--name=value`; returns how many further words it took. */
function longFlag(progress: ParseProgress, word: string, next: string | undefined): number {
  const equals = word.indexOf("=");
  const typed = equals < 0 ? word.slice(2) : word.slice(2, equals);
  if (typed === "help" && equals < 0) {
    progress.help = true;
    return 0;
  }
  const name = byLong(progress.flags, typed);
  const flag = progress.flags[name];
  if (flag === undefined) throw unknownFlag(progress, `--${name}`, name);
  if (equals >= 0) return set(progress, name, flag, `--${name}`, word.slice(equals + 1), 0);
  if (!takesValue(flag)) return set(progress, name, flag, `--${name}`, "true", 0);
  if (next === undefined) throw missing(progress, `--${name}`, flag);
  return set(progress, name, flag, `--${name}`, next, 1);
}

/** Reads `-n`, `-nvalue`, `-n=value` and grouped switches; returns how many further words it took. */
function shortFlags(progress: ParseProgress, word: string, next: string | undefined): number {
  for (let i = 1; i < word.length; i++) {
    const letter = word[i] ?? "";
    const name = byShort(progress.flags, letter);
    const flag = name === undefined ? undefined : progress.flags[name];
    if (name === undefined || flag === undefined) {
      if (letter !== "h") throw unknownFlag(progress, `-${letter}`, word.slice(1));
      progress.help = true;
      continue;
    }
    const shown = `-${letter}, --${name}`;
    const rest = word.slice(i + 1);
    if (rest.startsWith("=")) return set(progress, name, flag, shown, rest.slice(1), 0);
    if (!takesValue(flag)) {
      set(progress, name, flag, shown, "true", 0);
      continue;
    }
    if (rest !== "") return set(progress, name, flag, shown, rest, 0);
    if (next === undefined) throw missing(progress, shown, flag);
    return set(progress, name, flag, shown, next, 1);
  }
  return 0;
}

function set(progress: ParseProgress, name: string, flag: Flag, shown: string, text: string, taken: number): number {
  const before = progress.given.has(name) ? progress.values[name] : undefined;
  const parsed = parseFlagValue(flag, text, before);
  if ("expected" in parsed) throw badValue(progress.path, shown, text, parsed.expected, flag);
  progress.values[name] = parsed.value;
  progress.given.add(name);
  return taken;
}

function fromVariables(progress: ParseProgress, env: Readonly<Record<string, string | undefined>>): void {
  for (const [name, flag] of Object.entries(progress.flags)) {
    if (flag.env === undefined || progress.given.has(name)) continue;
    for (const variable of flag.env) {
      const text = env[variable];
      if (text === undefined || (text === "" && flag.type !== "string")) continue;
      const parsed = parseFlagValue(flag, text);
      if ("expected" in parsed) {
        throw badValue(progress.path, `variable ${variable} (for --${name})`, text, parsed.expected, flag);
      }
      progress.values[name] = parsed.value;
      progress.given.add(name);
    }
  }
}

function checkExclusive(command: Command, progress: ParseProgress): void {
  for (const group of command.exclusive ?? []) {
    const both = group.filter((name) => progress.given.has(name));
    if (both.length > 1) {
      throw usageError(
        `${progress.path}: ${both.map((n) => `--${n}`).join(" and ")} exclude each other; give one of them`,
      );
    }
  }
}

function checkArguments(located: Located, args: readonly string[]): void {
  const path = pathOf(located);
  const first = args[0];
  const { command } = located;
  if (command.commands !== undefined && first !== undefined) {
    const known = command.commands.filter((c) => c.hidden !== true).map((c) => c.name);
    throw usageError(`${path}: unknown command "${first}"; ${hint(path, nearestName(first, [...known, "help"]))}`);
  }
  const { min, max, usage } = command.args ?? { min: 0, max: 0, usage: "" };
  if (args.length < min) {
    throw usageError(`${path}: expected ${usage}, got ${count(args.length)}; see "${path} --help"`);
  }
  if (args.length > max) {
    const extra = args.slice(max).map((a) => JSON.stringify(a)).join(" ");
    throw usageError(`${path}: unexpected argument ${extra}; see "${path} --help"`);
  }
}

function count(n: number): string {
  return n === 0 ? "no argument" : n === 1 ? "one argument" : `${n} arguments`;
}

function hint(path: string, guess: string | undefined): string {
  return guess === undefined ? `see "${path} --help"` : `did you mean "${guess}"?`;
}

function unknownFlag(progress: ParseProgress, shown: string, name: string): UsageError {
  const known = Object.entries(progress.flags).filter(([, f]) => f.hidden !== true).map(([n]) => n);
  const guess = nearestName(name, [...known, "help"]);
  return usageError(`${progress.path}: unknown flag ${shown}; ${hint(progress.path, guess && `--${guess}`)}`);
}

function missing(progress: ParseProgress, shown: string, flag: Flag): UsageError {
  return usageError(`${progress.path}: flag ${shown} needs a value (${flag.type}); see "${progress.path} --help"`);
}

function badValue(path: string, shown: string, text: string, expected: string, flag: Flag): UsageError {
  const guess = flag.allowed === undefined ? undefined : nearestName(text, flag.allowed);
  const tail = guess === undefined ? "" : `; did you mean "${guess}"?`;
  const what = shown.startsWith("-") ? `flag ${shown}` : shown;
  return usageError(`${path}: ${what}: got ${JSON.stringify(text)}, expected ${expected}${tail}`);
}

/** A refusal in one line: what was typed may hold line breaks and other control characters. */
function usageError(text: string): UsageError {
  // deno-lint-ignore no-control-regex -- control characters are what is looked for
  return new UsageError(text.replace(/[\u0000-\u001f\u007f]/g, (c) => JSON.stringify(c).slice(1, -1)));
}
