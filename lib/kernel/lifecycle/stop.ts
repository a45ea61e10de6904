/**
 * Ordered stop: parts register their ends, and a stop ends the parts in reverse order within one deadline for all.
 *
 * @module
 */
import { type Clock, systemClock } from "../time/clock.ts";

/** Ends a part. The signal aborts at the deadline: from then on end by force. */
export type StopPart = (signal: AbortSignal) => Promise<void> | void;

/** The outcome of ending a part. */
export interface StopOutcome {
  readonly name: string;
  /** `late`: the deadline came first. The part got the signal, and the stop goes on without the part. */
  readonly result: "done" | "failed" | "late";
  readonly error?: unknown;
}

/** Parts of a program in order of start. */
export interface Stopper {
  /** Registers a part. Later parts end earlier. Returns a function that removes the part. */
  add(name: string, stop: StopPart): () => void;
  /** Ends all parts. A second call returns the first call's promise. Never rejects. */
  stop(): Promise<readonly StopOutcome[]>;
}

/**
 * A stopper.
 *
 * @param deadlineMs Time for all parts together, milliseconds.
 */
export function createStopper(deadlineMs: number, clock: Clock = systemClock): Stopper {
  const parts: { name: string; stop: StopPart }[] = [];
  let stopping: Promise<readonly StopOutcome[]> | undefined;
  const run = async () => {
    const controller = new AbortController();
    const cancel = clock.after(deadlineMs, () => controller.abort(new Error(`not stopped within ${deadlineMs} ms`)));
    const outcomes: StopOutcome[] = [];
    for (const part of parts.toReversed()) outcomes.push(await endPart(part.name, part.stop, controller.signal));
    cancel();
    return outcomes;
  };
  return {
    add(name, stop) {
      const part = { name, stop };
      parts.push(part);
      return () => {
        const at = parts.indexOf(part);
        if (at >= 0) parts.splice(at, 1);
      };
    },
    stop: () => (stopping ??= run()),
  };
}

async function endPart(name: string, stop: StopPart, signal: AbortSignal): Promise<StopOutcome> {
  const late = new Promise<StopOutcome>((resolve) => {
    const give = () => resolve({ name, result: "late" });
    // Even after the deadline every part is ended by force, with one turn of the event loop for the work.
    if (signal.aborted) setTimeout(give, 0);
    else signal.addEventListener("abort", () => setTimeout(give, 0), { once: true });
  });
  const ended = (async (): Promise<StopOutcome> => {
    try {
      await stop(signal);
      return { name, result: "done" };
    } catch (error) {
      return { name, result: "failed", error };
    }
  })();
  return await Promise.race([ended, late]);
}
