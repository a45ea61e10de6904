/**
 * How a program is run: the arguments of its task in `deno.json`, the only place for these arguments.
 *
 * Permissions: read of deno.json.
 *
 * @module
 */

/**
 * The arguments of `deno` for a program (`pilot-discovery`, `pilot-agent`, `install-cni`), without the program's own
 * arguments.
 *
 * @param tree Root of the program's tree. Default: the present tree.
 */
export function programArgs(program: string, tree = new URL("..", import.meta.url).pathname): string[] {
  const config = JSON.parse(Deno.readTextFileSync(`${tree}/deno.json`));
  const task: unknown = config.tasks[program];
  if (typeof task !== "string") throw new RangeError(`deno.json has no task ${program}`);
  const [deno, ...args] = task.split(" ");
  if (deno !== "deno") throw new RangeError(`task ${program}: got ${deno}, expected deno`);
  return args;
}

/** The arguments for the runtime's engine, which must be built into an executable. */
export function engineFlags(program: string): string[] {
  return programArgs(program).filter((arg) => arg.startsWith("--v8-flags="));
}
