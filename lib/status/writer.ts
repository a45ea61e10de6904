/**
 * Queues status updates. Rate and concurrency are limited, and only the last update of an object is sent.
 *
 * Permissions: the permissions of the updates.
 *
 * @module
 */
import type { Logger } from "../kernel/log/log.ts";
import type { Metrics } from "../kernel/metrics/registry.ts";
import type { Clock } from "../kernel/time/clock.ts";
import type { TokenBucket } from "../orch/client/token_bucket.ts";
import { KeyedQueue } from "../orch/queue/keyed_queue.ts";

/** How updates are sent. */
export interface StatusWriterOptions {
  /** Label `queueID` of the metrics of the queue. */
  readonly id: string;
  /** Updates under way at the same time. */
  readonly workers: number;
  readonly limit: TokenBucket;
  readonly clock: Clock;
  readonly log: Logger;
  /**
   * Client of the API for the updates. With a client, an outage of the API is logged once for all objects. Default: the
   * outage is logged for each object.
   */
  readonly client?: object | undefined;
  /** Default: the queue is not measured. */
  readonly metrics?: Metrics | undefined;
}

/** Sends a status. The update must give up when the signal aborts. */
export type StatusUpdate = (signal: AbortSignal) => Promise<void>;

/** The queue of a term of leadership. When the signal aborts, waiting updates are dropped. */
export class StatusWriter {
  readonly #queue: KeyedQueue;
  readonly #updates = new Map<string, StatusUpdate>();
  readonly #failing = new Set<string>();

  constructor({ id, workers, limit, clock, log, client, metrics }: StatusWriterOptions, signal: AbortSignal) {
    this.#queue = new KeyedQueue({
      ...{ id, workers, clock, metrics, outage: client && { client, log } },
      work: async (object, stopped) => {
        await limit.take(stopped);
        // Only the last update of the object counts, including updates that arrived during the wait.
        const update = this.#updates.get(object);
        if (update === undefined || signal.aborted) return;
        await update(stopped);
        if (this.#updates.get(object) === update) this.#updates.delete(object);
        this.#failing.delete(object);
      },
      failed: (object, error, said) => {
        if (said) return;
        if (!this.#failing.has(object)) {
          log.warn("a status could not be written; the server tries again", { object, error });
        }
        this.#failing.add(object);
      },
    });
    if (signal.aborted) void this.#queue.stop();
    else signal.addEventListener("abort", () => void this.#queue.stop(), { once: true });
  }

  /** Queues an update. The update replaces the object's waiting update. */
  put(object: string, update: StatusUpdate): void {
    this.#updates.set(object, update);
    this.#queue.add(object);
  }

  /** Drops the waiting update of an object. */
  drop(object: string): void {
    this.#updates.delete(object);
    this.#failing.delete(object);
    this.#queue.forget(object);
  }

  /** Ends. @returns when nothing is written any more */
  async stop(): Promise<void> {
    await this.#queue.stop();
  }
}
