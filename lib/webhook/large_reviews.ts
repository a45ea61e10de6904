/**
 * Large reviews are checked in a thread of their own, one at a time. An object of 3 MB takes up to a second to read and
 * check, and the server's main thread must answer pushes, certificates and probes meanwhile.
 *
 * Permissions: the permissions of the worker; none of its own.
 *
 * @module
 */
import { moduleBeside } from "../kernel/program/late_module.ts";
import type { Clock } from "../kernel/time/clock.ts";
import type { ReviewLook } from "./look.ts";
import type { ReviewQuestion } from "./review_worker.ts";

/**
 * Most bytes of a review that the main thread checks. Reading and checking such a review takes at most 20 ms, or at
 * most 100 ms for a review with expressions.
 */
export const LARGE_REVIEW = 64 * 1024;

/** Longest time for a review, including the wait for a turn, ms: the API waits for 10 s. */
const REVIEW_TIME = 10_000;

/** Idle time after which a worker ends, ms: a worker holds some 40 MB. */
const IDLE_TIME = 60_000;

/** Admits one review at a time. The groups of the callers' addresses take turns. */
export interface ReviewTurns {
  /** Waits for a turn. @throws the signal's reason; RangeError when too many wait. */
  enter(address: string, signal: AbortSignal): Promise<void>;
  leave(address: string): void;
}

export type ReviewThread = Pick<Worker, "postMessage" | "terminate" | "onmessage" | "onerror">;

/** Nobody has checked the review. The caller must not take the error for a consent. */
export class ReviewNotSeen extends Error {
  override readonly name = "ReviewNotSeen";
}

export class LargeReviews {
  readonly #clock: Pick<Clock, "after">;
  readonly #turns: ReviewTurns;
  readonly #start: () => ReviewThread;
  #thread: ReviewThread | undefined;
  #stopIdle: () => void = () => {};

  /** @param start Makes a worker; default: a thread. */
  constructor(clock: Pick<Clock, "after">, turns: ReviewTurns, start: () => ReviewThread = startThread) {
    this.#clock = clock;
    this.#turns = turns;
    this.#start = start;
  }

  /**
   * The worker's answer about a review.
   *
   * @param address Address of the client.
   * @param signal Aborts when nobody waits for the answer any more.
   * @throws {ReviewNotSeen}
   */
  async look(question: ReviewQuestion, address: string, signal: AbortSignal): Promise<ReviewLook> {
    const late = new AbortController();
    const text = `the review was not looked at within ${REVIEW_TIME / 1000} s`;
    const cancel = this.#clock.after(REVIEW_TIME, () => late.abort(new ReviewNotSeen(text)));
    const ends = AbortSignal.any([signal, late.signal]);
    try {
      await this.#turns.enter(address, ends);
      try {
        return await this.#ask(question, ends);
      } finally {
        this.#turns.leave(address);
      }
    } catch (error) {
      if (error instanceof ReviewNotSeen) throw error;
      if (error instanceof RangeError) throw new ReviewNotSeen("too many large reviews wait, expected fewer at a time");
      throw new ReviewNotSeen("the client is gone, or the server stops");
    } finally {
      cancel();
    }
  }

  /** Ends the worker. */
  stop(): void {
    this.#stopIdle();
    this.#thread?.terminate();
    this.#thread = undefined;
  }

  async #ask(question: ReviewQuestion, signal: AbortSignal): Promise<ReviewLook> {
    this.#stopIdle();
    const thread = this.#thread ??= this.#start();
    const { promise, resolve, reject } = Promise.withResolvers<ReviewLook>();
    const end = () => reject(signal.reason);
    signal.addEventListener("abort", end, { once: true });
    thread.onmessage = ({ data }: MessageEvent<ReviewLook>) => resolve(data);
    thread.onerror = (event) => {
      event.preventDefault();
      reject(new ReviewNotSeen(`the review could not be looked at: ${event.message}`));
    };
    try {
      thread.postMessage(question);
      const look = await promise;
      this.#stopIdle = this.#clock.after(IDLE_TIME, () => this.stop());
      return look;
    } catch (error) {
      // The worker's late answer would be taken for the answer to the next question.
      this.stop();
      throw error;
    } finally {
      signal.removeEventListener("abort", end);
    }
  }
}

function startThread(): ReviewThread {
  return new Worker(moduleBeside("review_worker", import.meta.url), { type: "module", name: "reviews" });
}

/** Whether a review is large. */
export function isLarge(body: Uint8Array): boolean {
  return body.length > LARGE_REVIEW;
}
