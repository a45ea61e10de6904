/**
 * What to do about a module that cannot be loaded.
 *
 * @module
 */
import { UsageError } from "../../lib/cli/command.ts";

/**
 * In a fresh copy of this tree the code that is generated is not there yet: then that is the error. Undefined: that is
 * not why.
 */
export function setUpError(error: unknown): UsageError | undefined {
  const missing = error instanceof TypeError && /not found.*\/(?:proto\/gen|node_modules)\//i.test(error.message);
  return missing ? new UsageError("this folder is not set up yet: run `deno task setup` once") : undefined;
}
