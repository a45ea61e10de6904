/**
 * Runs a program from its command line. All three programs start here.
 *
 * @module
 */
import { FileTooLarge, NotRegularFile } from "../../kernel/files/regular.ts";
import { LogOptionError } from "../../kernel/log/level.ts";
import { type Command, type Located, type Output, pathOf, UsageError } from "../command.ts";
import { COMPLETE, COMPLETE_PLAIN } from "../completion/command.ts";
import { locate } from "../locate.ts";
import { readLine } from "../parse.ts";
import { nearestName } from "../../kernel/text/nearest.ts";

/** The surroundings of a program: arguments, streams, variables. */
export interface ProcessSurroundings {
  readonly output: Output;
  /** Values of the named variables, in our spelling. Called only when a flag of the command has a paired variable. */
  readonly variables?: (names: readonly string[]) => Promise<Readonly<Record<string, string>>>;
}

/**
 * Runs a command line and returns the exit code: the command's code, or, for mistakes in the command line, 1 or the
 * command's own code for mistakes. All mistakes, and an unreadable file, are reported on standard error, a line each.
 * An unexpected exception is reported with message and stack.
 */
export async function runProgram(root: Command, args: readonly string[], around: ProcessSurroundings): Promise<number> {
  try {
    const [first, ...rest] = args;
    if (first === COMPLETE || first === COMPLETE_PLAIN) return await answerCompletion(root, first, rest, around.output);
    if (first === "help") return await showHelp(helped(root, rest), around.output);
    const names = pairedVariables(root, args);
    const line = readLine(root, args, names.length > 0 ? await around.variables?.(names) : {});
    if (line.help) return await showHelp(line, around.output);
    const { values: flags, given, problems, command } = line;
    const invocation = { flags, given, args: line.args, output: around.output, path: pathOf(line) };
    if (problems.length > 0) {
      throw new UsageError([...problems, ...await command.check?.(invocation) ?? []].join("\n"));
    }
    return command.run === undefined ? await showHelp(line, around.output) : await command.run(invocation);
  } catch (error) {
    around.output.err(errorText(error));
    return locate(root, args).command.mistake ?? 1;
  }
}

/** Paired variables of the command's flags. */
function pairedVariables(root: Command, args: readonly string[]): string[] {
  const { command } = locate(root, args);
  return Object.values(command.flags ?? {}).flatMap((flag) => flag.env ?? []);
}

/** Text of an error on standard error. */
export function errorText(error: unknown): string {
  if (error instanceof UsageError || error instanceof LogOptionError || isOfFile(error)) {
    return `Error: ${error.message}\n`;
  }
  return error instanceof Error ? `${error.stack ?? error.message}\n` : `Error: ${String(error)}\n`;
}

/** Whether an error is about an unreadable file. The user named the file, so the place in the program does not help. */
function isOfFile(error: unknown): error is Error {
  const { NotFound, PermissionDenied, FilesystemLoop, NotADirectory, IsADirectory, TimedOut } = Deno.errors;
  return [
    NotRegularFile,
    FileTooLarge,
    NotFound,
    PermissionDenied,
    FilesystemLoop,
    NotADirectory,
    IsADirectory,
    TimedOut,
  ]
    .some((kind) => error instanceof kind);
}

async function answerCompletion(root: Command, request: string, words: readonly string[], output: Output) {
  const { complete, completionText, withNames } = await import("../completion/candidates.ts");
  let completion = complete(root, words);
  const { names } = completion;
  if (names !== undefined && root.names !== undefined) {
    const { values: flags, given, args } = readLine(root, words.slice(0, -1));
    // A shell shows what completion prints, so a failure is no name.
    const found = await root.names({ sort: names.sort, start: names.start, flags, given, args }).catch(() => []);
    completion = withNames(completion, found);
  }
  output.out(completionText(completion, request === COMPLETE));
  return 0;
}

async function showHelp(located: Located, output: Output): Promise<number> {
  const { helpText } = await import("../help.ts");
  output.out(helpText(located, output.terminals?.out.width));
  return 0;
}

/** The command of `help ...`. */
function helped(root: Command, words: readonly string[]): Located {
  const { command, line, argument: unknown } = locate(root, words);
  if (unknown !== undefined) {
    const path = pathOf({ command, line });
    const guess = nearestName(unknown, (command.commands ?? []).map((c) => c.name));
    throw new UsageError(
      `${root.name} help: unknown command "${[path, unknown].join(" ")}"` +
        (guess === undefined ? `; see "${root.name} --help"` : `; did you mean "${path} ${guess}"?`),
    );
  }
  return { command, line };
}
