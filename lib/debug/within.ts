/**
 * Pages that wait for a bounded time.
 *
 * @module
 */
import type { DebugView } from "./view.ts";

/** How long a page waits for findings, ms: the analysis follows a push within a moment. */
const FINDINGS_PATIENCE = 1000;

/**
 * Waits until the findings and their lines belong to the last push. If the wait is too long, the page has older
 * findings.
 */
export function settledFindings({ analysis }: DebugView, signal: AbortSignal): Promise<boolean> {
  return within(analysis.settled(), FINDINGS_PATIENCE, signal);
}

/**
 * Waits for some work: at most for a time, and at most until the client goes away.
 *
 * @param timeout Milliseconds.
 * @returns whether the work is done
 */
export async function within(work: Promise<void>, timeout: number, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const giveUp = () => resolve(false);
  const timer = setTimeout(giveUp, timeout);
  signal.addEventListener("abort", giveUp, { once: true });
  if (signal.aborted) giveUp();
  try {
    return await Promise.race([work.then(() => true), promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", giveUp);
  }
}
