/**
 * Large reviews are looked at in a thread of their own, one at a time. An object of 3 MB takes up to a second to read and
 * check, and the server's own thread has pushes, certificates and probes to answer meanwhile.
 *
 * Permissions: those of the worker; none of its own.
 *
 * @module
 */
import { moduleBeside } from "../kernel/program/late_module.ts";
import type { Clock } from "../kernel/time/clock.ts";
import type { ReviewLook } from "./look.ts";
import type { ReviewQuestion } from "./review_worker.ts";

/** Bytes from which on a review is large. Up to it, reading and checking take 20 ms, and expressions 100 ms at most. */
export const LARGE_REVIEW = 64 * 1024;

/** Longest time for a review, with the wait for its turn, ms: the API waits for 10 s. */
const REVIEW_TIME = 10_000;

/** A worker that nobody asks ends after this, ms: it holds some 40 MB. */
const IDLE_TIME = 60_000;

/** Turns: one review at a time, and callers that wait take turns by the group of their addresses. */
export interface ReviewTurns {
  /** Waits for a turn. @throws the signal's reason; RangeError when too many wait. */
  enter(address: string, signal: AbortSignal): Promise<void>;
  leave(address: string): void;
}

/** The part of a worker that is used. */
export type ReviewThread = Pick<Worker, "postMessage" | "terminate" | "onmessage" | "onerror">;

/** A review that nobody has looked at: its caller must not take that for a consent. */
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
   * What the worker says of a review.
   *
   * @param address Where it comes from.
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
      // Its answer would come after the next question.
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

/** Which reviews are large. */
export function isLarge(body: Uint8Array): boolean {
  return body.length > LARGE_REVIEW;
}
