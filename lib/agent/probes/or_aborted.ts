/**
 * An answer, or the abort of a signal.
 *
 * @module
 */

/**
 * Waits for an answer or until the signal aborts.
 * @throws The error of the answer, or the signal's reason.
 */
export async function orAborted<T>(
  { promise, reject }: Pick<PromiseWithResolvers<T>, "promise" | "reject">,
  signal: AbortSignal,
): Promise<T> {
  const aborted = () => reject(signal.reason);
  signal.addEventListener("abort", aborted);
  if (signal.aborted) aborted();
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", aborted);
  }
}
