/**
 * Work by key. Work of one key never runs twice at the same time, the number of workers is limited, and failed work is
 * repeated after growing pauses.
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { ApiError } from "../client/api_error.ts";
import { outageOf } from "../client/outage.ts";
import { BackOff } from "../informer/back_off.ts";

/** An API that the work asks, by its client, and the log for outages of the API. */
export interface AskedApi {
  readonly client: object;
  readonly log: Pick<Logger, "info" | "warn">;
}

/** How a queue works. */
export interface KeyedQueueOptions {
  /** Label `queueID` of the queue's metrics. */
  readonly id: string;
  /** Does the work of a key; a failure is done again. The signal aborts when the queue stops. */
  readonly work: (key: string, signal: AbortSignal) => Promise<void>;
  /**
   * Called with each failure; `said`: the failure is part of an outage, and the log already has enough lines. Default:
   * failures are ignored.
   */
  readonly failed?: (key: string, error: unknown, said: boolean) => void;
  /** The API that the work asks. All failures during an outage of the API count as one outage. Default: no API. */
  readonly outage?: AskedApi | undefined;
  /** Works at a time. Default 1. */
  readonly workers?: number;
  readonly clock: Clock;
  /** Default: the queue is not measured (`MESH_ENABLE_CONTROLLER_QUEUE_METRICS`). */
  readonly metrics?: Metrics | undefined;
  /** From 0 to 1. Default: the runtime's. */
  readonly random?: () => number;
}

/** A queue of keys. A key waits once, however often the key is added. */
export class KeyedQueue {
  readonly #options: KeyedQueueOptions;
  /** Keys that wait for a worker, in order, and the beginning of the wait. */
  readonly #waiting = new Map<string, number>();
  readonly #running = new Set<string>();
  /** Pauses of keys whose last work failed, and a function that ends the present pause. */
  readonly #failing = new Map<string, { readonly backOff: BackOff; cancel: () => void }>();
  /** Keys whose last work got no answer from the API. */
  readonly #unanswered = new Map<string, object>();
  readonly #stop = new AbortController();
  #idle: (() => void)[] = [];

  constructor(options: KeyedQueueOptions) {
    this.#options = options;
  }

  /** Queues the work of a key. Running work of the key is repeated afterwards; a pause after a failure is cut short. */
  add(key: string): void {
    if (this.#stop.signal.aborted || this.#waiting.has(key)) return;
    this.#failing.get(key)?.cancel();
    this.#waiting.set(key, this.#options.clock.monotonic());
    this.#next();
  }

  /** Drops a key. Running work of the key ends by itself. */
  forget(key: string): void {
    this.#failing.get(key)?.cancel();
    this.#failing.delete(key);
    this.#waiting.delete(key);
    this.#answered(key, "forgotten");
    this.#measureDepth();
  }

  /** Resolves when no work is done, and none waits but for pauses. */
  async idle(): Promise<void> {
    if (this.#running.size + this.#waiting.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Ends. @returns when no work is being done any more */
  async stop(): Promise<void> {
    this.#stop.abort(new Error("the queue stops"));
    for (const key of [...this.#waiting.keys(), ...this.#failing.keys()]) this.forget(key);
    for (const key of [...this.#unanswered.keys()]) this.#answered(key, "forgotten");
    await this.idle();
  }

  #next(): void {
    const { workers = 1 } = this.#options;
    for (const [key, since] of this.#waiting) {
      if (this.#running.size >= workers) break;
      if (this.#running.has(key)) continue;
      this.#waiting.delete(key);
      this.#running.add(key);
      void this.#work(key, since);
    }
    this.#measureDepth();
    if (this.#running.size + this.#waiting.size > 0) return;
    for (const resolve of this.#idle) resolve();
    this.#idle = [];
  }

  async #work(key: string, since: number): Promise<void> {
    const { id, work, failed, clock, metrics } = this.#options;
    const began = clock.monotonic();
    metrics?.histogram("pilot_worker_queue_latency").observe({ queueID: id }, (began - since) / 1000);
    try {
      await work(key, this.#stop.signal);
      this.#failing.delete(key);
      this.#answered(key, "worked");
    } catch (error) {
      if (!this.#stop.signal.aborted) {
        failed?.(key, error, this.#isOutage(key, error));
        this.#later(key);
      }
    }
    metrics?.histogram("pilot_worker_queue_duration").observe({ queueID: id }, (clock.monotonic() - began) / 1000);
    this.#running.delete(key);
    this.#next();
  }

  /** Whether a failure is part of an outage. The log has one line for an outage. */
  #isOutage(key: string, error: unknown): boolean {
    const { outage, id } = this.#options;
    if (outage === undefined) return false;
    if (!(error instanceof ApiError) || !error.transient) {
      this.#answered(key, "worked");
      return false;
    }
    const part = this.#unanswered.getOrInsertComputed(key, () => ({}));
    outageOf(outage.client).fails(part, error, outage.log, { queue: id });
    return true;
  }

  #answered(key: string, how: "worked" | "forgotten"): void {
    const part = this.#unanswered.get(key);
    const { outage, id } = this.#options;
    if (part === undefined || outage === undefined) return;
    this.#unanswered.delete(key);
    if (how === "worked") outageOf(outage.client).works(part, outage.log, { queue: id });
    else outageOf(outage.client).leaves(part);
  }

  #later(key: string): void {
    const backOff = this.#failing.get(key)?.backOff ?? new BackOff(this.#options.random);
    // The key was added while its work failed. The added key is the next attempt.
    const cancel = this.#waiting.has(key) ? () => {} : this.#options.clock.after(backOff.next(), () => this.add(key));
    this.#failing.set(key, { backOff, cancel });
  }

  #measureDepth(): void {
    this.#options.metrics?.gauge("pilot_worker_queue_depth").set({ queueID: this.#options.id }, this.#waiting.size);
  }
}
