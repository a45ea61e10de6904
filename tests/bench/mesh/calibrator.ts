/**
 * Runs the calibration beside what is measured.
 *
 * Permissions: run (this runtime).
 *
 * @module
 */
import { EXPECTED, REFERENCE } from "./calibration.ts";

/** CPU seconds that the calibration takes at the moment, in a process of its own. */
export async function calibrate(): Promise<number> {
  const script = new URL("calibration.ts", import.meta.url).pathname;
  const args = ["run", "--quiet", "--no-prompt", script];
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  if (!success) throw new Error(`the calibration failed: ${new TextDecoder().decode(stderr)}`);
  const { cpu, made } = JSON.parse(new TextDecoder().decode(stdout)) as { cpu: number; made: string };
  if (made !== EXPECTED) throw new Error(`calibration: got ${made}, expected ${EXPECTED}: the work has changed`);
  return cpu;
}

/** Calibrates just before and just after each piece of work. */
export class Calibrator {
  #last: number | undefined;

  constructor(private readonly measure: () => Promise<number> = calibrate) {}

  /** Measures nothing, and takes the machine for the reference: comparisons need ratios alone, and are done sooner. */
  static none(): Calibrator {
    return new Calibrator(() => Promise.resolve(REFERENCE));
  }

  /** Runs the work; also gives the mean of the calibrations around it. In a series, one serves both its neighbours. */
  async beside<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly calibration: number }> {
    const before = this.#last ?? await this.measure();
    this.#last = undefined; // work that fails leaves none behind
    const result = await work();
    const after = this.#last = await this.measure();
    return { result, calibration: (before + after) / 2 };
  }

  /** Something else comes between: the next piece of work begins with a new calibration. */
  pause(): void {
    this.#last = undefined;
  }
}
