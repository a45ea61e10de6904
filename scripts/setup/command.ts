/**
 * Runs programs for the set-up: silent on success, with their whole output on failure.
 *
 * Permissions: run.
 *
 * @module
 */

/** The output of a program, and whether the program succeeded. */
export interface CommandResult {
  readonly success: boolean;
  /** Only standard output. */
  readonly out: string;
  /** Standard output, then standard error. */
  readonly all: string;
}

/**
 * Runs a program to its end.
 *
 * @throws Error with the program's name when the program cannot be started.
 */
export async function attempt(name: string, args: readonly string[], cwd: string): Promise<CommandResult> {
  const env = { DEBIAN_FRONTEND: "noninteractive", NO_COLOR: "1" };
  try {
    const { success, stdout, stderr } = await new Deno.Command(name, { args: [...args], cwd, env, stdin: "null" })
      .output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    return { success, out: text(stdout), all: text(stdout) + text(stderr) };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new Error(`${name} is not installed`, { cause: error });
  }
}

/**
 * Runs a program that must succeed.
 *
 * @throws Error with the whole output.
 */
export async function command(name: string, args: readonly string[], cwd: string): Promise<void> {
  const { success, all } = await attempt(name, args, cwd);
  if (!success) throw new Error(`${name} ${args.join(" ")} failed:\n${all.trimEnd()}`);
}
