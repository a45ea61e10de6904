/**
 * Commands with code that is loaded when the command runs, so that `version` and `completion` stay quick.
 *
 * @module
 */
import { type Command, type Invocation, runs } from "../../lib/cli/command.ts";
import type { FlagSet } from "../../lib/cli/flag.ts";
import { moduleBeside } from "../../lib/kernel/program/late_module.ts";
import { setUpError } from "./set_up.ts";

/** Exit code of a command that could not do its work. Other codes are results. */
export const COULD_NOT_RUN = 2;

/** Address of a module of this folder. */
export function moduleAt(name: string): string {
  return moduleBeside(name, import.meta.url).href;
}

type Run<F extends FlagSet> = (invocation: Invocation<F>) => Promise<number>;

/** A command with code that is loaded when the command runs. */
export function later<F extends FlagSet>(flags: F, load: () => Promise<Run<F>>): NonNullable<Command["run"]> {
  return runs(flags, async (invocation) => {
    const run = await load().catch((error) => {
      throw setUpError(error) ?? error;
    });
    return await run(invocation);
  });
}
