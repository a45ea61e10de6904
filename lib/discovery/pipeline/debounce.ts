/**
 * Debouncing of changes. A push starts after a quiet time without changes, and no later than a maximum time after the
 * first change. One push runs at a time. Changes during a push are merged into the next push.
 *
 * @module
 */

/** Settings, in milliseconds. */
export interface DebounceOptions {
  /** Quiet time (`PILOT_DEBOUNCE_AFTER`). */
  readonly after: number;
  /** Longest wait after the first change (`PILOT_DEBOUNCE_MAX`). */
  readonly max: number;
  /** Whether changes of only endpoints wait, too (`PILOT_ENABLE_EDS_DEBOUNCE`). */
  readonly endpoints: boolean;
}

/** A change that calls for a push. */
export interface ChangeEvent {
  /** A value of label `type` of `pilot_push_triggers`. */
  readonly reason: string;
  /** Keys of the changed objects. */
  readonly objects: readonly string[];
  /** Whether more than endpoints changed. */
  readonly full: boolean;
}

/** Several changes, merged. */
export interface MergedChange {
  /** Number of changes by reason. */
  readonly reasons: Map<string, number>;
  readonly objects: Set<string>;
  full: boolean;
  /** Time of the first change, on the timer's clock. */
  readonly startedAt: number;
  /** Number of merged changes. */
  changes: number;
}

/** A clock and one-shot timers, for tests. */
export interface Timers {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back later; returns a function that cancels the call. */
  after(delay: number, callback: () => void): () => void;
}

/** The real clock. */
export const REAL_TIMERS: Timers = {
  now: () => Date.now(),
  after(delay, callback) {
    // A longer timeout would fire at once. A caller that is woken early looks at the time and waits on.
    const timer = setTimeout(callback, Math.min(delay, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  },
};

/** Collects changes and releases the merged changes. */
export class Debouncer {
  #merged: MergedChange | undefined;
  #lastAt = 0;
  #cancel: (() => void) | undefined;
  #running = false;
  #holding = 0;
  #blocked = 0;
  #stopped = false;

  readonly #options: DebounceOptions;
  readonly #push: (change: MergedChange) => Promise<void> | void;
  readonly #timers: Timers;
  readonly #failed: (error: unknown) => void;

  /**
   * @param push Runs a push. The next push starts after its promise settles.
   * @param failed Called with errors of `push`. Default: errors are thrown to the runtime.
   */
  constructor(
    options: DebounceOptions,
    push: (change: MergedChange) => Promise<void> | void,
    timers: Timers = REAL_TIMERS,
    failed: (error: unknown) => void = reportError,
  ) {
    this.#options = options;
    this.#push = push;
    this.#timers = timers;
    this.#failed = failed;
  }

  /** A change has happened. */
  add(change: ChangeEvent): void {
    if (this.#stopped) return;
    const now = this.#timers.now();
    const urgent = this.#isUrgent(change);
    // A change that may go at once neither waits for collected changes nor delays them.
    if (urgent && !this.#running && this.#blocked === 0) return this.#run(merge(noChange(now), change));
    if (!urgent) this.#lastAt = now;
    merge(this.#merged ??= noChange(now), change);
    this.#arm();
  }

  /**
   * Releases the changes during `work` together, however short the quiet time: each change needs the others to make
   * sense. Urgent changes make sense alone, and are not held back.
   */
  together(work: () => void): void {
    this.#holding++;
    try {
      work();
    } finally {
      this.#holding--;
      this.#arm();
    }
  }

  /**
   * Holds all changes back, even urgent changes, until the returned function is called. Used while work is half done.
   */
  hold(): () => void {
    this.#holding++;
    this.#blocked++;
    return () => {
      this.#holding--;
      this.#blocked--;
      this.#arm();
    };
  }

  /** Hands the waiting changes to a caller that pushes them at once. */
  take(): MergedChange | undefined {
    const merged = this.#merged;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#merged = undefined;
    return merged;
  }

  /** Drops unreleased changes. */
  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#merged = undefined;
  }

  #arm(): void {
    const merged = this.#merged;
    if (merged === undefined || this.#running || this.#stopped || this.#holding > 0) return;
    const now = this.#timers.now();
    const due = this.#isUrgent(merged)
      ? now
      : Math.min(this.#lastAt + this.#options.after, merged.startedAt + this.#options.max);
    if (due <= now) return this.#release(merged);
    // A timer that is already set fires early enough, and then looks again.
    this.#cancel ??= this.#timers.after(due - now, () => {
      this.#cancel = undefined;
      this.#arm();
    });
  }

  #isUrgent(change: { readonly full: boolean }): boolean {
    return !change.full && !this.#options.endpoints;
  }

  #release(merged: MergedChange): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#merged = undefined;
    this.#run(merged);
  }

  #run(merged: MergedChange): void {
    this.#running = true;
    const done = () => {
      this.#running = false;
      this.#arm();
    };
    let running: Promise<void> | void;
    try {
      running = this.#push(merged);
    } catch (error) {
      running = Promise.reject(error);
    }
    // A synchronous push is already over, so the next change need not wait for a turn of the event loop.
    if (running === undefined) done();
    else {running.then(done, (error) => {
        done();
        this.#failed(error);
      });}
  }
}

/** A merged change without any change yet. */
export function noChange(now: number): MergedChange {
  return { reasons: new Map(), objects: new Set(), full: false, startedAt: now, changes: 0 };
}

function merge(into: MergedChange, change: ChangeEvent): MergedChange {
  into.reasons.set(change.reason, (into.reasons.get(change.reason) ?? 0) + 1);
  for (const object of change.objects) into.objects.add(object);
  into.full ||= change.full;
  into.changes++;
  return into;
}
