/**
 * Command line to command, flag values and arguments, with the semantics of Istio's flag library: `--flag v`,
 * `--flag=v`, `-n v`, `-nv`, `-n=v`, grouped switches, `--`; flags before or after arguments; global flags anywhere.
 *
 * @module
 */
import { type Command, type Located, pathOf, UsageError } from "./command.ts";
import type { Flag, FlagSet, FlagValue } from "./flag.ts";
import { parseFlagValue } from "./flag_value.ts";
import { byLong, byShort, flagsOf, locate, takesValue } from "./locate.ts";
import { nearestName } from "../kernel/text/nearest.ts";

/** A parsed command line. */
export interface ParsedLine extends Located {
  readonly values: Readonly<Record<string, FlagValue>>;
  readonly given: ReadonlySet<string>;
  readonly args: readonly string[];
  /** `--help` or `-h` was among the flags: nothing else is checked. */
  readonly help: boolean;
  /** The mistakes in the command line, a line each. A flag at fault has its default. */
  readonly problems: readonly string[];
}

/** State during the parse of a command line. */
interface ParseProgress {
  readonly flags: FlagSet;
  readonly path: string;
  readonly values: Record<string, FlagValue>;
  readonly given: Set<string>;
  readonly problems: string[];
  /** A flag is unknown, so nobody knows whether the next word is the flag's value. */
  unknown: boolean;
  help: boolean;
}

/**
 * Parses a command line that must be right.
 * @throws {UsageError} With a line for each problem: the mistake and the remedy.
 */
export function parseLine(
  root: Command,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): ParsedLine {
  const line = readLine(root, args, env);
  if (!line.help && line.problems.length > 0) throw new UsageError(line.problems.join("\n"));
  return line;
}

/**
 * Reads a command line with all mistakes.
 * @param root The program.
 * @param args The program's arguments.
 * @param env Variables for flags with paired variables.
 */
export function readLine(
  root: Command,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): ParsedLine {
  const { command, line, rest, argument } = locate(root, args);
  const located = { command, line };
  const flags = flagsOf(located);
  const progress: ParseProgress = {
    flags,
    path: pathOf(located),
    values: Object.create(null),
    given: new Set(),
    problems: [],
    unknown: false,
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
  const { values, given, problems } = progress;
  if (!progress.help) {
    fromVariables(progress, env);
    for (const [name, flag] of Object.entries(flags)) values[name] ??= flag.default;
    checkExclusive(command, progress);
    // Flags behind a verb of another program are of that verb.
    const foreign = argument === undefined ? undefined : foreignVerb(located, argument);
    if (foreign !== undefined) problems.splice(0, problems.length, foreign);
    // The value of an unknown flag is among the arguments.
    else if (!progress.unknown) problems.push(...argumentProblems(located, positional));
  }
  return { ...located, values, given, args: positional, help: progress.help, problems: problems.map(oneLine) };
}

/** Reads `--name` or `--name=value`. Returns the number of further words that the flag took. */
function longFlag(progress: ParseProgress, word: string, next: string | undefined): number {
  const equals = word.indexOf("=");
  const typed = equals < 0 ? word.slice(2) : word.slice(2, equals);
  if (typed === "help" && equals < 0) {
    progress.help = true;
    return 0;
  }
  const name = byLong(progress.flags, typed);
  const flag = progress.flags[name];
  if (flag === undefined) {
    unknownFlag(progress, `--${name}`, name);
    return 0;
  }
  if (equals >= 0) return set(progress, name, flag, `--${name}`, word.slice(equals + 1), 0);
  if (!takesValue(flag)) return set(progress, name, flag, `--${name}`, "true", 0);
  return setNext(progress, name, flag, `--${name}`, next);
}

/** Reads `-n`, `-nvalue`, `-n=value` and grouped switches. Returns the number of further words that the flags took. */
function shortFlags(progress: ParseProgress, word: string, next: string | undefined): number {
  for (let i = 1; i < word.length; i++) {
    const letter = word[i] ?? "";
    const name = byShort(progress.flags, letter);
    const flag = name === undefined ? undefined : progress.flags[name];
    if (name === undefined || flag === undefined) {
      if (letter === "h") {
        progress.help = true;
        continue;
      }
      unknownFlag(progress, `-${letter}`, word.slice(1));
      return 0;
    }
    const shown = `-${letter}, --${name}`;
    const rest = word.slice(i + 1);
    if (rest.startsWith("=")) return set(progress, name, flag, shown, rest.slice(1), 0);
    if (!takesValue(flag)) {
      set(progress, name, flag, shown, "true", 0);
      continue;
    }
    if (rest !== "") return set(progress, name, flag, shown, rest, 0);
    return setNext(progress, name, flag, shown, next);
  }
  return 0;
}

/** Takes the next word as a flag's value. */
function setNext(progress: ParseProgress, name: string, flag: Flag, shown: string, next: string | undefined): number {
  if (next !== undefined) return set(progress, name, flag, shown, next, 1);
  const { path } = progress;
  progress.problems.push(`${path}: flag ${shown} needs a value (${flag.type}); see "${path} --help"`);
  return 0;
}

function set(progress: ParseProgress, name: string, flag: Flag, shown: string, text: string, taken: number): number {
  const before = progress.given.has(name) ? progress.values[name] : undefined;
  const parsed = parseFlagValue(flag, text, before);
  if ("expected" in parsed) progress.problems.push(badValue(progress.path, shown, text, parsed.expected, flag));
  else {
    progress.values[name] = parsed.value;
    progress.given.add(name);
  }
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
        const shown = `variable ${variable} (for --${name})`;
        progress.problems.push(badValue(progress.path, shown, text, parsed.expected, flag));
        continue;
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
      const names = both.map((n) => `--${n}`).join(" and ");
      progress.problems.push(`${progress.path}: ${names} exclude each other; give one of them`);
    }
  }
}

/** What a verb of another program is called here; undefined: it is no such verb. */
function foreignVerb(located: Located, verb: string): string | undefined {
  const { elsewhere = {} } = located.command;
  if (!Object.hasOwn(elsewhere, verb)) return undefined;
  return `${pathOf(located)}: unknown command "${verb}"; here it is ${elsewhere[verb]}`;
}

function argumentProblems(located: Located, args: readonly string[]): string[] {
  const path = pathOf(located);
  const first = args[0];
  const { command } = located;
  if (command.commands !== undefined && first !== undefined) {
    const known = command.commands.filter((c) => c.hidden !== true).map((c) => c.name);
    return [`${path}: unknown command "${first}"; ${hint(path, nearestName(first, [...known, "help"]))}`];
  }
  const { min, max, usage } = command.args ?? { min: 0, max: 0, usage: "" };
  if (args.length < min) {
    return [`${path}: expected ${usage}, got ${count(args.length)}; see "${path} --help"`];
  }
  if (args.length <= max) return [];
  const extra = args.slice(max).map((a) => JSON.stringify(a)).join(" ");
  return [`${path}: unexpected argument ${extra}; see "${path} --help"`];
}

function count(n: number): string {
  return n === 0 ? "no argument" : n === 1 ? "one argument" : `${n} arguments`;
}

function hint(path: string, guess: string | undefined): string {
  return guess === undefined ? `see "${path} --help"` : `did you mean "${guess}"?`;
}

function unknownFlag(progress: ParseProgress, shown: string, name: string): void {
  const known = Object.entries(progress.flags).filter(([, f]) => f.hidden !== true).map(([n]) => n);
  const guess = nearestName(name, [...known, "help"]);
  progress.unknown = true;
  progress.problems.push(`${progress.path}: unknown flag ${shown}; ${hint(progress.path, guess && `--${guess}`)}`);
}

function badValue(path: string, shown: string, text: string, expected: string, flag: Flag): string {
  const guess = flag.allowed === undefined ? undefined : nearestName(text, flag.allowed);
  const tail = guess === undefined ? "" : `; did you mean "${guess}"?`;
  const what = shown.startsWith("-") ? `flag ${shown}` : shown;
  return `${path}: ${what}: got ${JSON.stringify(text)}, expected ${expected}${tail}`;
}

/** A problem in a single line: text from the command line may hold line breaks and other control characters. */
function oneLine(text: string): string {
  // deno-lint-ignore no-control-regex -- control characters are what is looked for
  return text.replace(/[\u0000-\u001f\u007f]/g, (c) => JSON.stringify(c).slice(1, -1));
}
