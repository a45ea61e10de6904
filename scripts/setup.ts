/**
 * Prepares a fresh machine: npm packages, generated code, Envoy, and (as root on Debian) the programs for tests. Prints
 * a line per step. A step without work does nothing.
 *
 *     deno task setup            everything
 *     deno task setup-folder     the parts in this folder, no Debian packages
 *
 * Permissions: the permissions of `./setup/steps.ts`.
 *
 * @module
 */
import { runSteps } from "./setup/run_steps.ts";
import { folderSteps, systemStep } from "./setup/steps.ts";

const root = new URL("..", import.meta.url).pathname;
const steps = [...folderSteps(root), ...Deno.args.includes("--folder") ? [] : [systemStep(root)]];
const bytes = (text: string) => new TextEncoder().encode(text);
const done = await runSteps(steps, {
  live: Deno.stdout.isTerminal(),
  write: (text) => void Deno.stdout.writeSync(bytes(text)),
  writeError: (text) => void Deno.stderr.writeSync(bytes(text)),
});
if (!done) Deno.exit(1);
