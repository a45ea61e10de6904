/**
 * Runs the steps of the set-up, with a line for each step with work.
 *
 * @module
 */
import type { Step } from "./steps.ts";

/** The output of set-up. */
export interface SetupOutput {
  /** Whether a line may be overwritten: it shows a step's name while the step runs. */
  readonly live: boolean;
  write(text: string): void;
  writeError(text: string): void;
}

/** @returns Whether all steps succeeded. The first failed step is the last to run. */
export async function runSteps(steps: readonly Step[], output: SetupOutput): Promise<boolean> {
  let there = 0;
  for (const [i, step] of steps.entries()) {
    const label = `[${i + 1}/${steps.length}] ${step.name}`;
    if (await step.done()) {
      there++;
      continue;
    }
    const started = performance.now();
    if (output.live) output.write(`${label} ...`);
    try {
      const remark = await step.run();
      const outcome = remark ?? `ready (${((performance.now() - started) / 1000).toFixed(1)} s)`;
      output.write(`${output.live ? "\r" : ""}${label}: ${outcome}\n`);
    } catch (error) {
      output.writeError(`${output.live ? "\n" : ""}${label}: ${(error as Error).message}\n`);
      return false;
    }
  }
  if (there === steps.length) output.write(`[${there}/${there}] everything is there\n`);
  return true;
}
