/**
 * Commands as typed data: a tree of names, flags, arguments and functions.
 *
 * @module
 */
import type { FlagSet, FlagValues, NameSort } from "./flag.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** The output of a command. Texts end with their own line breaks. */
export interface Output {
  out(text: string): void;
  err(text: string): void;
  /** Width and colours of the two streams. Absent: the streams are not terminals. */
  readonly terminals?: { readonly out: Terminal; readonly err: Terminal };
}

/** The input of a command's run. */
export interface Invocation<F extends FlagSet = FlagSet> {
  /** Values of all flags: the command's own flags, and the global flags of its parents. */
  readonly flags: FlagValues<F>;
  /** Flags from the command line, or from a paired variable. */
  readonly given: ReadonlySet<string>;
  readonly args: readonly string[];
  readonly output: Output;
  /** Path of the command, such as `pilot-agent wait`. */
  readonly path: string;
}

/** Positional arguments of a command. */
export interface Arguments {
  /** The arguments in the usage line: `<method> <path> [<body>]`. */
  readonly usage: string;
  readonly min: number;
  readonly max: number;
  /** Values that completion offers for the first argument. */
  readonly values?: readonly string[];
  /** The completion of every argument, or of those behind the first if that has `values`. */
  readonly complete?: "file" | NameSort;
}

/** A question of completion for names. */
export interface CompletionQuestion {
  readonly sort: NameSort;
  /** The beginning of the name. */
  readonly start: string;
  /** The command line up to the name. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly given: ReadonlySet<string>;
  readonly args: readonly string[];
}

/** A command with its subcommands. */
export interface Command {
  readonly name: string;
  /** A single line for the parent's help. */
  readonly summary: string;
  /** More lines for the command's own help. */
  readonly description?: string;
  readonly aliases?: readonly string[];
  readonly examples?: string;
  readonly args?: Arguments;
  /** Flags of only this command. */
  readonly flags?: FlagSet;
  /** Flags of this command and all subcommands. */
  readonly globals?: FlagSet;
  /** Groups of flags. At most one flag of a group may be given. */
  readonly exclusive?: readonly (readonly string[])[];
  readonly commands?: readonly Command[];
  readonly hidden?: boolean;
  /** Words that users of another program type below this command, with the command for each in its place. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  /** Of a program: looks names up for completion. No names where nothing is known. */
  readonly names?: (question: CompletionQuestion) => Promise<readonly string[]>;
  /**
   * Exit code of a mistake in the command line, or of a refusal. Default 1. For commands whose exit code 1 is a result.
   */
  readonly mistake?: number;
  /**
   * Runs the command and returns the exit code. A command without `run` only groups other commands and prints its help.
   */
  readonly run?: (invocation: Invocation) => Promise<number> | number;
  /**
   * Problems of the values that their types do not show, as `run` would refuse them. Called only when the command line
   * has problems already, so that all problems are reported at once. Flags at fault then have their defaults.
   */
  readonly check?: (invocation: Invocation) => Promise<readonly string[]> | readonly string[];
}

/**
 * Mistakes in the command line, or a refusal that the user can correct. The mistakes are printed on standard error, a
 * line each, without a stack. The exit code is `Command.mistake`.
 */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Types a command's `run` by the command's flags. `globals` are the parents' flags. */
export function runs<F extends FlagSet>(
  _flags: F,
  run: (invocation: Invocation<F>) => Promise<number> | number,
): (invocation: Invocation) => Promise<number> | number {
  return run as (invocation: Invocation) => Promise<number> | number;
}

/** Types a command's `check` by the command's flags. */
export function checks<F extends FlagSet>(
  _flags: F,
  check: (invocation: Invocation<F>) => Promise<readonly string[]> | readonly string[],
): (invocation: Invocation) => Promise<readonly string[]> | readonly string[] {
  return check as (invocation: Invocation) => Promise<readonly string[]> | readonly string[];
}

/** The subcommand with this name or alias. */
export function subcommand(command: Command, name: string): Command | undefined {
  return command.commands?.find((c) => c.name === name || c.aliases?.includes(name) === true);
}

/** A command with the way from the program down to the command. */
export interface Located {
  readonly command: Command;
  /** From the program's root to the command. */
  readonly line: readonly Command[];
}

/** `program sub sub`. */
export function pathOf(located: Located): string {
  return located.line.map((c) => c.name).join(" ");
}

/** Flags of a command's parents that the command accepts too. */
export function inheritedFlags(located: Located): FlagSet {
  return Object.assign(Object.create(null), ...located.line.slice(0, -1).map((c) => c.globals ?? {}));
}

/** The command's own flags. */
export function localFlags(located: Located): FlagSet {
  return { ...located.command.flags, ...located.command.globals };
}
