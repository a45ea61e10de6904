/**
 * How a program is run in a folder of its own: with its permission set as flags, as it is compiled. Paths of a set that
 * are relative (`./var`) hold below the folder then; `deno run -P` would take them below that of `deno.json`.
 *
 * Permissions: read of deno.json.
 *
 * @module
 */
import { permissionFlags, permissionSets } from "./compile.ts";
import { programArgs } from "./program_args.ts";

const root = new URL("..", import.meta.url).pathname;

/** The arguments of `deno` that run a program in any folder, without the program's own arguments. */
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
