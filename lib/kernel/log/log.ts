/**
 * Logging in scopes. Each scope has a level, and the level can change while the program runs. A call compares two
 * numbers to decide about the level, so a suppressed line costs only its arguments. Pass a function for an expensive
 * message.
 *
 * Permissions: the permissions of the targets.
 *
 * @module
 */
import { type Clock, systemClock } from "../time/clock.ts";
import { fittingLine } from "./fitting.ts";
import { consoleLine, jsonLine, type Line, type LogFields } from "./format.ts";
import { ALL, DEFAULT_SCOPE, type Level, LogOptionError, type LogSeverity, rank } from "./level.ts";
import { openTarget, type Target } from "./target.ts";

/** A message, or a function that builds the message of a written line. */
export type Message = string | (() => string);

/** Writes lines to a scope. */
export interface Logger {
  debug(message: Message, fields?: LogFields): void;
  info(message: Message, fields?: LogFields): void;
  warn(message: Message, fields?: LogFields): void;
  error(message: Message, fields?: LogFields): void;
  /** The last words before the program ends. The caller ends the program. */
  fatal(message: Message, fields?: LogFields): void;
  /** Whether a line of the severity would be written. */
  enabled(severity: LogSeverity): boolean;
  /** A logger of the same scope that adds the fields to every line. */
  with(fields: LogFields): Logger;
}

/** The settings of a scope. */
export interface ScopeState {
  readonly name: string;
  readonly level: Level;
  /** Least severity of lines with a stack. */
  readonly stackLevel: Level;
  readonly caller: boolean;
}

/** The values of the logging flags. */
export interface LogOptions {
  readonly json: boolean;
  readonly callers: ReadonlySet<string>;
  readonly levels: ReadonlyMap<string, Level>;
  readonly stackLevels: ReadonlyMap<string, Level>;
  readonly targets: readonly string[];
}

/** All scopes of a process. */
export interface Log {
  /** The logger of a scope. An unlisted name is allowed and starts at the level of `all`. */
  scope(name: string): Logger;
  /** Sets the level of a scope, or of every scope by `all`. False when the scope does not exist. */
  set(scope: string, level: Level): boolean;
  /** Sets the least severity of lines with a stack. False when the scope does not exist. */
  setStackLevel(scope: string, level: Level): boolean;
  /** Sets whether lines of a scope name the caller. False when the scope does not exist. */
  setCaller(scope: string, on: boolean): boolean;
  /** Every scope, sorted by name. */
  states(): ScopeState[];
  /** Closes the targets. */
  close(): void;
}

/** Options when no flag is given: `info`, no stacks, console text on standard output. */
export const defaultLogOptions: LogOptions = {
  json: false,
  callers: new Set(),
  levels: new Map(),
  stackLevels: new Map([[DEFAULT_SCOPE, "none"]]),
  targets: ["stdout"],
};

/** The settings of a scope, shared by all loggers of the scope. */
interface Switches {
  level: number;
  stack: number;
  caller: boolean;
}

/** Parts of logs besides options; for tests and embedding. */
export interface LogParts {
  readonly clock?: Clock;
  readonly open?: (name: string) => Target;
}

/**
 * Opens the targets and makes the scopes.
 *
 * @param names Scopes of the program.
 * @throws {LogOptionError} when a target cannot be opened.
 */
export function createLog(
  names: readonly string[],
  options: LogOptions = defaultLogOptions,
  parts: LogParts = {},
): Log {
  const clock = parts.clock ?? systemClock;
  const targets = options.targets.map((name) => opened(name, parts.open ?? openTarget));
  const format = options.json ? jsonLine : consoleLine;
  const encoder = new TextEncoder();
  const emit = (line: Line) => {
    const bytes = fittingLine(line, (one) => encoder.encode(format(one, false)));
    for (const target of targets) {
      const coloured = target.colour === true && !options.json;
      target.write(coloured ? fittingLine(line, (one) => encoder.encode(consoleLine(one, true))) : bytes);
    }
  };
  const scopes = new Map<string, Switches>();
  const ensure = (name: string): Switches => {
    let switches = scopes.get(name);
    if (switches === undefined) {
      switches = {
        level: rank[options.levels.get(name) ?? options.levels.get(ALL) ?? "info"],
        stack: rank[options.stackLevels.get(name) ?? options.stackLevels.get(ALL) ?? "none"],
        caller: options.callers.has(name) || options.callers.has(ALL),
      };
      scopes.set(name, switches);
    }
    return switches;
  };
  for (const name of names) if (name !== ALL) ensure(name);
  const change = (name: string, apply: (s: Switches) => void): boolean => {
    const touched = name === ALL ? [...scopes.values()] : [scopes.get(name)].filter((s) => s !== undefined);
    touched.forEach(apply);
    return touched.length > 0;
  };
  return {
    scope: (name) => new ScopeLogger(name, ensure(name), undefined, emit, clock),
    set: (name, level) => change(name, (s) => (s.level = rank[level])),
    setStackLevel: (name, level) => change(name, (s) => (s.stack = rank[level])),
    setCaller: (name, on) => change(name, (s) => (s.caller = on)),
    states: () => [...scopes].map(([name, s]) => state(name, s)).sort((a, b) => (a.name < b.name ? -1 : 1)),
    close: () => targets.forEach((target) => target.close()),
  };
}

function opened(name: string, open: (name: string) => Target): Target {
  try {
    return open(name);
  } catch (error) {
    // Permissions are fixed where the program is started, so the runtime's hint about another flag would not help
    // users.
    const cause = error instanceof Deno.errors.NotCapable
      ? "its permissions (deno.json) let the program write elsewhere only"
      : error instanceof Error
      ? error.message
      : String(error);
    throw new LogOptionError(
      `--log_target: got ${JSON.stringify(name)}, expected a file that can be written: ${cause}`,
    );
  }
}

const byRank = Object.entries(rank).sort(([, a], [, b]) => a - b).map(([name]) => name as Level);

function state(name: string, s: Switches): ScopeState {
  return { name, level: byRank[s.level] ?? "none", stackLevel: byRank[s.stack] ?? "none", caller: s.caller };
}

class ScopeLogger implements Logger {
  readonly #name: string;
  readonly #switches: Switches;
  readonly #fields: LogFields | undefined;
  readonly #emit: (line: Line) => void;
  readonly #clock: Clock;

  constructor(
    name: string,
    switches: Switches,
    fields: LogFields | undefined,
    emit: (line: Line) => void,
    clock: Clock,
  ) {
    this.#name = name;
    this.#switches = switches;
    this.#fields = fields;
    this.#emit = emit;
    this.#clock = clock;
  }

  debug(message: Message, fields?: LogFields): void {
    if (this.#switches.level <= 0) this.#write("debug", message, fields);
  }

  info(message: Message, fields?: LogFields): void {
    if (this.#switches.level <= 1) this.#write("info", message, fields);
  }

  warn(message: Message, fields?: LogFields): void {
    if (this.#switches.level <= 2) this.#write("warn", message, fields);
  }

  error(message: Message, fields?: LogFields): void {
    if (this.#switches.level <= 3) this.#write("error", message, fields);
  }

  fatal(message: Message, fields?: LogFields): void {
    if (this.#switches.level <= 4) this.#write("fatal", message, fields);
  }

  enabled(severity: LogSeverity): boolean {
    return this.#switches.level <= rank[severity];
  }

  with(fields: LogFields): Logger {
    return new ScopeLogger(this.#name, this.#switches, { ...this.#fields, ...fields }, this.#emit, this.#clock);
  }

  #write(level: LogSeverity, message: Message, fields: LogFields | undefined): void {
    const { caller, stack } = this.#switches;
    const withStack = stack <= rank[level];
    const frames = caller || withStack ? framesAbove(2) : undefined;
    this.#emit({
      time: this.#clock.now(),
      level,
      scope: this.#name,
      message: typeof message === "function" ? message() : message,
      fields: this.#fields === undefined ? fields : { ...this.#fields, ...fields },
      caller: caller ? callerOf(frames?.[0]) : undefined,
      stack: withStack ? frames?.join("\n") : undefined,
    });
  }
}

/** Stack frames as text, without the frames of this function, its caller and `skip` more. */
function framesAbove(skip: number): string[] {
  return (new Error().stack ?? "").split("\n").slice(2 + skip);
}

/** `file.ts:12` of a frame. */
function callerOf(frame: string | undefined): string {
  const file = (frame ?? "").split(/[/\\]/).at(-1)!;
  return /^([^:]+:\d+):\d+\)?$/.exec(file)?.[1] ?? "unknown";
}

/** A log without output, for tests and embedding. */
export function silentLog(): Log {
  return createLog([], { ...defaultLogOptions, levels: new Map([[ALL, "none"]]), targets: [] });
}
