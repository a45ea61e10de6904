/**
 * Makes a fresh machine ready: npm packages, generated code, Envoy, and (as root on Debian) the programs that tests use.
 * One line a step; a step does nothing where there is nothing to do.
 *
 *     deno task setup            everything
 *     deno task setup-folder     what lies in this folder, no Debian packages
 *
 * Permissions: those of `./setup/steps.ts`.
 *
 * @module
 */
import { folderSteps, systemStep } from "./setup/steps.ts";

const root = new URL("..", import.meta.url).pathname;
const steps = [...folderSteps(root), ...Deno.args.includes("--folder") ? [] : [systemStep(root)]];
let there = 0;
for (const [i, step] of steps.entries()) {
  const label = `[${i + 1}/${steps.length}] ${step.name}`;
  if (await step.done()) {
    there++;
    continue;
  }
  const started = performance.now();
  const live = Deno.stdout.isTerminal();
  if (live) await Deno.stdout.write(new TextEncoder().encode(`${label} ...`));
  let outcome: string;
  try {
    const remark = await step.run();
    outcome = `${label}: ${remark ?? `ready (${((performance.now() - started) / 1000).toFixed(1)} s)`}`;
  } catch (error) {
    console.error(`${live ? "\n" : ""}${label}: ${(error as Error).message}`);
    Deno.exit(1);
  }
  console.log(live ? `\r${outcome}` : outcome);
}
if (there === steps.length) console.log(`[${there}/${there}] everything is there`);
