/**
 * How a program is run in a separate folder: with its permission set as flags, like a compiled program. Relative paths
 * of the set (`./var`) are then below the folder. With `deno run -P` the paths would be below the folder of
 * `deno.json`.
 *
 * Permissions: read of deno.json.
 *
 * @module
 */
import { permissionFlags, permissionSets } from "./compile.ts";
import { programArgs } from "./program_args.ts";

const root = new URL("..", import.meta.url).pathname;

/** The arguments of `deno` for a program in any folder, without the program's own arguments. */
export function programElsewhere(program: string): string[] {
  const set = permissionSets()[program];
  if (set === undefined) throw new RangeError(`deno.json has no permission set ${program}`);
  const [run = "", ...args] = programArgs(program).flatMap((arg) =>
    arg === "--no-prompt"
      ? []
      : arg === `-P=${program}`
      ? permissionFlags(set)
      : [arg.startsWith("cmd/") ? `${root}${arg}` : arg]
  );
  return [run, "--config", `${root}deno.json`, ...args];
}
