/**
 * Draining: started once, and announced to every part that must hand over work.
 *
 * @module
 */

/** Starts draining and tells about it. */
export interface Drain {
  /** Starts draining; later calls change nothing. */
  start(reason: string): void;
  readonly started: boolean;
  /** Why draining started; undefined before. */
  readonly reason: string | undefined;
  /** Aborts when draining starts. The signal's reason is an Error with a message such as `draining: REASON`. */
  readonly signal: AbortSignal;
  /** Resolves with the reason when draining starts. */
  readonly whenStarted: Promise<string>;
}

/** A drain in the state before draining. */
export function createDrain(): Drain {
  const controller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<string>();
  let reason: string | undefined;
  return {
    start(why) {
      if (reason !== undefined) return;
      reason = why;
      controller.abort(new Error(`draining: ${why}`));
      resolve(why);
    },
    get started() {
      return reason !== undefined;
    },
    get reason() {
      return reason;
    },
    signal: controller.signal,
    whenStarted: promise,
  };
}
