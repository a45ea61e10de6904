/**
 * Work that ends with a deadline or with the caller.
 *
 * @module
 */
import type { Clock } from "../../kernel/time/clock.ts";

/** Limits of the work. */
export interface WithinLimits {
  /** Milliseconds; undefined: none. */
  readonly timeout: number | undefined;
  /** The caller has gone. */
  readonly signal?: AbortSignal;
  readonly clock: Pick<Clock, "after">;
}

/**
 * Does the work.
 * @param work Must end when its signal aborts.
 * @throws The error of the work, the signal's reason, or `no answer within N s` after the deadline.
 */
export async function within<T>(
  { timeout, signal, clock }: WithinLimits,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const left = () => ended.abort(signal?.reason);
  const cancel = timeout === undefined
    ? undefined
    : clock.after(timeout, () => ended.abort(new Error(`no answer within ${timeout / 1000} s`)));
  if (signal?.aborted) left();
  else signal?.addEventListener("abort", left);
  try {
    return await work(ended.signal);
  } finally {
    cancel?.();
    signal?.removeEventListener("abort", left);
  }
}
