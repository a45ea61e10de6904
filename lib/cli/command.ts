/**
 * Commands as typed data: a tree of names, flags, arguments and the functions that run.
 *
 * @module
 */
import type { FlagSet, FlagValues } from "./flag.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** The output of a command. Texts end with their own line breaks. */
export interface Output {
  out(text: string): void;
  err(text: string): void;
  /** Width and colours of the two streams; absent: they are no terminals. */
  readonly terminals?: { readonly out: Terminal; readonly err: Terminal };
}

/** The input of a command's run. */
export interface Invocation<F extends FlagSet = FlagSet> {
  /** Values of all flags of the command, its own and those of its parents. */
  readonly flags: FlagValues<F>;
  /** Flags that the command line, or a variable paired with the flag, gave. */
  readonly given: ReadonlySet<string>;
  readonly args: readonly string[];
  readonly output: Output;
  /** Path of the command, such as `pilot-agent wait`. */
  readonly path: string;
}

/** Positional arguments of a command. */
export interface Arguments {
  /** As usage prints them: `<method> <path> [<body>]`. */
  readonly usage: string;
  readonly min: number;
  readonly max: number;
  /** Values that completion offers for the first argument. */
  readonly values?: readonly string[];
  /** The kind of completion that is offered for every argument. */
  readonly complete?: "file";
}

/** One command with its subcommands. */
export interface Command {
  readonly name: string;
  /** One line, as the parent's help prints it. */
  readonly summary: string;
  /** More lines for the command's own help. */
  readonly description?: string;
  readonly aliases?: readonly string[];
  readonly examples?: string;
  readonly args?: Arguments;
  /** Flags of this command alone. */
  readonly flags?: FlagSet;
  /** Flags of this command and of everything below it. */
  readonly globals?: FlagSet;
  /** Groups of flags of which at most one may be given. */
  readonly exclusive?: readonly (readonly string[])[];
  readonly commands?: readonly Command[];
  readonly hidden?: boolean;
  /** Exit code of a mistake in the line, or of a refusal; default 1. For commands whose exit code 1 says what they found. */
  readonly mistake?: number;
  /** Runs the command; the number is the exit code. Without it the command only groups others and prints its help. */
  readonly run?: (invocation: Invocation) => Promise<number> | number;
  /**
   * Problems of the values beyond what their types say, as `run` would refuse them. Asked for only where the line has
   * problems already, so that all are reported at once; flags at fault then have their defaults.
   */
  readonly check?: (invocation: Invocation) => Promise<readonly string[]> | readonly string[];
}

/**
 * Mistakes in the command line, or a refusal that the user can correct: printed one line each on standard error, without a
 * stack; the exit code is that of `Command.mistake`.
 */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Types a command's `run` by its flags. `globals` are those of its parents. */
export function runs<F extends FlagSet>(
  _flags: F,
  run: (invocation: Invocation<F>) => Promise<number> | number,
): (invocation: Invocation) => Promise<number> | number {
  return run as (invocation: Invocation) => Promise<number> | number;
}

/** Types a command's `check` by its flags. */
export function checks<F extends FlagSet>(
  _flags: F,
  check: (invocation: Invocation<F>) => Promise<readonly string[]> | readonly string[],
): (invocation: Invocation) => Promise<readonly string[]> | readonly string[] {
  return check as (invocation: Invocation) => Promise<readonly string[]> | readonly string[];
}

/** Subcommand of that name or alias. */
export function subcommand(command: Command, name: string): Command | undefined {
  return command.commands?.find((c) => c.name === name || c.aliases?.includes(name) === true);
}

/** A command in its place: the way down to it from the program. */
export interface Located {
  readonly command: Command;
  /** From the program's root to the command itself. */
  readonly line: readonly Command[];
}

/** `program sub sub`. */
export function pathOf(located: Located): string {
  return located.line.map((c) => c.name).join(" ");
}

/** Flags that hold for a command from above it. */
export function inheritedFlags(located: Located): FlagSet {
  return Object.assign(Object.create(null), ...located.line.slice(0, -1).map((c) => c.globals ?? {}));
}

/** Flags declared by the command itself. */
export function localFlags(located: Located): FlagSet {
  return { ...located.command.flags, ...located.command.globals };
}
