/**
 * Runs the calibration before and after measured work.
 *
 * Permissions: run (this runtime).
 *
 * @module
 */
import { EXPECTED, REFERENCE } from "./calibration.ts";

/** CPU seconds of the calibration at present, in a separate process. */
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

  /**
   * Measures nothing, and treats the machine as the reference machine: comparisons need only ratios and finish sooner.
   */
  static none(): Calibrator {
    return new Calibrator(() => Promise.resolve(REFERENCE));
  }

  /**
   * Runs the work. Also returns the mean of the calibrations before and after. In a series, neighbours share a
   * calibration.
   */
  async beside<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly calibration: number }> {
    const before = this.#last ?? await this.measure();
    this.#last = undefined; // Failed work leaves no calibration behind.
    const result = await work();
    const after = this.#last = await this.measure();
    return { result, calibration: (before + after) / 2 };
  }

  /** Something else comes between: the next piece of work begins with a new calibration. */
  pause(): void {
    this.#last = undefined;
  }
}
