/**
 * Waits of tests on a cluster, which mostly look by kubectl.
 *
 * @module
 */
import { until as untilLooked } from "../../patience.ts";

/** Pause between two looks, ms. A look by kubectl costs a tenth of a second of processor time. */
const PAUSE = 500;

/** Waits until something holds. */
export function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  return untilLooked(what, holds, PAUSE);
}
