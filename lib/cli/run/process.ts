/**
 * The edge between a program and its process: standard streams, environment, exit code.
 *
 * Permissions: env (the names that the program's set lists), for commands with flags that pair with variables.
 *
 * @module
 */
import type { Command, Output } from "../command.ts";
import { terminalOf } from "../terminal/terminal.ts";
import { runProgram } from "./run.ts";

/** Writes to the process's standard streams. A closed pipe (`| head`) ends the text, not the program. */
const processOutput: Output = {
  out: (text) => writeAll(Deno.stdout, text),
  err: (text) => writeAll(Deno.stderr, text),
  get terminals() {
    return { out: terminalOf(Deno.stdout), err: terminalOf(Deno.stderr) };
  },
};

function writeAll(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let bytes = new TextEncoder().encode(text);
  try {
    while (bytes.length > 0) bytes = bytes.subarray(stream.writeSync(bytes));
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

/** Runs the program with the process's arguments and ends the process with its exit code. */
export async function mainProgram(root: Command): Promise<never> {
  const variables = async (names: readonly string[]) => (await import("../startup.ts")).programVariables(names);
  Deno.exit(await runProgram(root, Deno.args, { output: processOutput, variables }));
}
