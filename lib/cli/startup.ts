/**
 * The variables and signals of a long-running program's process.
 *
 * Permissions: env (the program's variables in both spellings).
 *
 * @module
 */
import type { Drain } from "../kernel/lifecycle/drain.ts";
import type { Program } from "../kernel/program/program.ts";
import { inOurSpelling, spellings } from "../kernel/settings/border.ts";
import { type SettingsOf, settingsUsedBy } from "../kernel/settings/catalogue.ts";
import { readSettings, SettingsError } from "../kernel/settings/read.ts";
import { UsageError } from "./command.ts";

/**
 * The program's variables that are set, in either spelling. The program asks for each variable by name, and reads no
 * other variable of the environment.
 */
function programEnvironment(names: Iterable<string>): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of names) {
    for (const spelling of spellings(name)) {
      const value = Deno.env.get(spelling);
      if (value !== undefined) env[spelling] = value;
    }
  }
  return env;
}

/** The same, turned into our spelling. */
export function programVariables(names: Iterable<string>): Readonly<Record<string, string>> {
  return inOurSpelling(programEnvironment(names)).env;
}

/**
 * The settings of a program from the process's environment.
 * @throws {UsageError} With every wrong variable, a line each.
 */
export function readProgramSettings<P extends Program>(program: P): SettingsOf<P> {
  try {
    return readSettings(program, programEnvironment(settingsUsedBy(program).map(([name]) => name)));
  } catch (error) {
    if (error instanceof SettingsError) throw new UsageError(error.message);
    throw error;
  }
}

/** Exit code of a program that did not stop in time. */
const NOT_STOPPED = 1;

/**
 * Starts draining on SIGTERM or SIGINT. A second signal ends the process at once. Returns a function that removes the
 * handlers.
 * @param limit Time after which the process ends even if a part hangs, milliseconds. A start that waits for a file
 * system does not notice draining.
 */
export function stopOnSignals(drain: Drain, limit: number): () => void {
  const stop = () => {
    if (drain.started) Deno.exit(130);
    drain.start("signal");
    Deno.unrefTimer(setTimeout(() => Deno.exit(NOT_STOPPED), limit));
  };
  const signals = ["SIGTERM", "SIGINT"] as const;
  for (const signal of signals) Deno.addSignalListener(signal, stop);
  return () => signals.forEach((signal) => Deno.removeSignalListener(signal, stop));
}
