/**
 * The logging flags, shared by the programs, and their values as log options.
 *
 * @module
 */
import { levels, parseScopeLevels, parseScopes } from "../kernel/log/level.ts";
import type { LogOptions } from "../kernel/log/log.ts";
import { scopes } from "../kernel/log/scopes.ts";
import type { Program } from "../kernel/program/program.ts";
import { boolFlag, type FlagValues, levelFlag, stringArrayFlag, stringFlag } from "./flag.ts";
import { Refusals } from "./refusals.ts";

/** `--vklog`, a flag of every command of every program. */
export const vklogFlag = { vklog: levelFlag("verbosity of the low-level library log, like a -v flag") };

/** The logging flags of a program, with the program's scopes. */
export function logFlags(program: Program) {
  const names = scopes[program];
  const paired = { commas: true, complete: names, pairedWith: levels };
  return {
    log_as_json: boolFlag("write log lines as JSON instead of console text"),
    log_caller: stringFlag("", "comma-separated scopes, as for --log_output_level, whose lines name their caller", {
      commas: true,
      complete: names,
    }),
    log_output_level: stringFlag(
      "",
      `comma-separated <scope>:<level> pairs, the least level written per scope; levels: ${
        levels.join(", ")
      }; scopes: ${names.join(", ")}`,
      paired,
    ),
    log_stacktrace_level: stringFlag(
      "default:none",
      "the same pairs, the level from which lines carry a stack",
      paired,
    ),
    log_target: stringArrayFlag(["stdout"], "where log lines go: a path, stdout or stderr; may be repeated", {
      complete: "file",
    }),
  };
}

/** Values of the logging flags. */
export type LogFlagValues = FlagValues<ReturnType<typeof logFlags>> & FlagValues<typeof vklogFlag>;

/**
 * Log options of flag values. `--vklog` above 3 turns the scope `klog` to debug, unless the command line gives a level
 * for this scope.
 * @throws {UsageError} With each flag at fault and the expectation, a line each.
 */
export function logOptions(program: Program, flags: LogFlagValues): LogOptions {
  const known = scopes[program];
  const refusals = new Refusals();
  const output = refusals.attempt(() => parseScopeLevels("log_output_level", flags.log_output_level, known));
  const callers = refusals.attempt(() => parseScopes("log_caller", flags.log_caller, known));
  const stackLevels = refusals.attempt(() =>
    parseScopeLevels("log_stacktrace_level", flags.log_stacktrace_level, known)
  );
  if (!output || !callers || !stackLevels) throw refusals.error();
  if (flags.vklog > KLOG_DEBUG_ABOVE && !output.has("klog")) output.set("klog", "debug");
  return { json: flags.log_as_json, callers, levels: output, stackLevels, targets: flags.log_target };
}

/** Verbosity above which the low-level library log counts as debugging. */
const KLOG_DEBUG_ABOVE = 3;
