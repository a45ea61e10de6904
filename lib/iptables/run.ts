/**
 * Runs the system's tools, in this network namespace or in another namespace.
 *
 * Permissions: run (the tools; nsenter for another namespace).
 *
 * @module
 */

/** The result of a command. */
export interface Ran {
  /** Exit code; 127 when there is no such command. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command with a text on its standard input. */
export type Run = (command: string, args: readonly string[], input?: string) => Promise<Ran>;

/** Exit code of a shell, and of nsenter, for a missing command. */
export const NOT_FOUND = 127;

/** The namespace of the commands. */
export interface RuleNamespace {
  /** Network namespace: a name of `ip netns`, or a path. Undefined: the program's own namespace. */
  readonly networkNamespace: string | undefined;
  /** Lock file of the legacy back end's tools, instead of the machine's. */
  readonly lockFile?: string | undefined;
}

/** Path of a network namespace. A name is a name of `ip netns`. */
export function namespacePath(namespace: string): string {
  return namespace.includes("/") ? namespace : `/run/netns/${namespace}`;
}

/** Arguments that run a command in a network namespace. The command follows the arguments. */
export function enterWords(namespace: string): string[] {
  return [`--net=${namespacePath(namespace)}`, "--"];
}

/** Runs commands in a place. */
export function systemRun(place: RuleNamespace): Run {
  const env = place.lockFile === undefined ? {} : { XTABLES_LOCKFILE: place.lockFile };
  return async (command, args, input) => {
    const words = [command, ...args];
    const [program = command, ...rest] = place.networkNamespace === undefined
      ? words
      : ["nsenter", ...enterWords(place.networkNamespace), ...words];
    try {
      return await ran(
        new Deno.Command(program, { args: rest, env, stdin: "piped", stdout: "piped", stderr: "piped" }),
        input,
      );
    } catch (error) {
      if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotCapable) {
        return { code: NOT_FOUND, stdout: "", stderr: `${program}: ${error.message}` };
      }
      throw error;
    }
  };
}

async function ran(command: Deno.Command, input = ""): Promise<Ran> {
  const child = command.spawn();
  const [{ code, stdout, stderr }] = await Promise.all([child.output(), feed(child.stdin, input)]);
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

async function feed(stdin: WritableStream<Uint8Array>, input: string): Promise<void> {
  const writer = stdin.getWriter();
  try {
    await writer.write(new TextEncoder().encode(input));
    await writer.close();
  } catch (error) {
    // A command that ends before reading everything gives the reason in its exit code.
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

/** Why a command failed, in a single line. */
export function failureOf({ code, stderr }: Ran): string {
  if (code === NOT_FOUND) return "not installed, or not permitted to run";
  return stderr.trim().split("\n")[0] || `exit code ${code}`;
}
