/**
 * The advice for a module that cannot be loaded.
 *
 * @module
 */
import { UsageError } from "../../lib/cli/command.ts";

/**
 * The error for a fresh copy of this tree without the generated code. Undefined: the module cannot be loaded for
 * another reason.
 */
export function setUpError(error: unknown): UsageError | undefined {
  const missing = error instanceof TypeError && /not found/i.test(error.message) &&
    /\/(?:proto\/gen|node_modules)\//i.test(error.message);
  return missing ? new UsageError("this folder is not set up yet: run `deno task setup` once") : undefined;
}
