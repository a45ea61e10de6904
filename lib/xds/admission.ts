/**
 * Admission of new streams: a token bucket whose streams wait, so that a storm of reconnecting proxies is spread out
 * rather than refused and provoked to come again. Clients are served in turn, each its streams in order, so that a client
 * that opens many streams delays only itself. Clients without an identity are served by address first: many of one address
 * have more turns than one of them alone, and fewer than one each. A stream that ends while it waits gives its place back.
 *
 * @module
 */
import { type Cancel, type Clock, systemClock } from "../kernel/time/clock.ts";
import { RemoteTime } from "../sockets/patience.ts";
import { WeightedQueue } from "./weighted_queue.ts";

/**
 * Longest wait for admission, in milliseconds of a server that is not held up ({@linkcode RemoteTime}); a stream that has
 * waited longer is refused.
 */
export const MAX_ADMISSION_WAIT = 10_000;

/** Most streams that wait, at any rate: twice as many as a server has connections by default. */
export const MAX_WAITING_STREAMS = 20_000;

/** Longest time between two looks at streams that wait, in milliseconds. */
const LOOK = 1000;

/** Streams that are admitted or refused before the event loop gets its turn. */
const BATCH = 64;

/**
 * A limit of 0 means: this many streams a second. Computing and sending a first configuration costs 3 to 5 ms of CPU
 * (its share of a storm of 400 proxies), so a core can serve this many.
 */
export function defaultAdmissionRate(cores: number): number {
  return 200 * Math.max(1, cores);
}

/** A stream that wants to be admitted. Exactly one of both is called, at most once, and neither throws. */
export interface WaitingStream {
  /** The stream may go on. */
  admit(): void;
  /** Too many streams wait, or the stream has waited too long. */
  refuse(): void;
}

/** Admits streams at a rate, client by client. */
export class Admission {
  readonly #rate: number;
  readonly #clock: Pick<Clock, "monotonic" | "after">;
  readonly #most: number;
  readonly #queue = new WeightedQueue<WaitingStream>();
  readonly #since = new WeakMap<WaitingStream, number>();
  #nextFree: number;
  /** The time that waiting streams are measured by; a new one whenever the first begins to wait. */
  #time: RemoteTime;
  #timer: Cancel | undefined;

  /** @param rate admissions a second, above 0 */
  constructor(rate: number, clock: Pick<Clock, "monotonic" | "after"> = systemClock) {
    this.#rate = rate;
    this.#clock = clock;
    this.#most = Math.min(MAX_WAITING_STREAMS, Math.max(1, Math.floor(rate * MAX_ADMISSION_WAIT / 1000)));
    this.#nextFree = clock.monotonic() - 1000;
    this.#time = this.#newTime();
  }

  /** Number of streams that wait now. */
  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Admits a stream now or later, or refuses it. Up to one second's worth of streams pass without waiting after a quiet
   * second. When too many streams wait, the group with most of them for its weight loses the newest of its client with most.
   *
   * @param client key of the client, compared as the keys of a Map are
   * @param group key of the clients among which it is served, e.g. an address. Default: it is alone.
   */
  request(client: unknown, stream: WaitingStream, group: unknown = client): void {
    if (this.#queue.size === 0 && this.#takeToken()) return stream.admit();
    if (this.#queue.size === 0) this.#time = this.#newTime();
    this.#since.set(stream, this.#time.now);
    this.#queue.add(group, client, stream);
    const surplus = this.#queue.size > this.#most ? this.#queue.takeFromLargest(group, client) : undefined;
    this.#schedule();
    surplus?.refuse();
  }

  /** Takes note that a stream has ended. If it waited, its place is free. */
  leave(stream: WaitingStream): void {
    this.#queue.remove(stream);
    if (this.#queue.size > 0) return;
    this.#timer?.();
    this.#timer = undefined;
  }

  #newTime(): RemoteTime {
    return new RemoteTime(2 * LOOK, () => this.#clock.monotonic());
  }

  #takeToken(): boolean {
    const now = this.#clock.monotonic();
    const at = Math.max(this.#nextFree, now - 1000);
    if (at > now) return false;
    this.#nextFree = at + 1000 / this.#rate;
    return true;
  }

  /** Sets a timer for the next admission or the end of the longest wait, whichever comes first, and for soon. */
  #schedule(): void {
    const { oldest } = this.#queue;
    if (this.#timer !== undefined || oldest === undefined) return;
    const left = this.#since.get(oldest)! + MAX_ADMISSION_WAIT - this.#time.now;
    const due = Math.min(this.#nextFree - this.#clock.monotonic(), left, LOOK);
    this.#timer = this.#clock.after(Math.max(1, due), () => {
      this.#timer = undefined;
      this.#serve();
      this.#schedule();
    });
  }

  #serve(): void {
    for (let i = 0; i < BATCH && this.#queue.size > 0 && this.#takeToken(); i++) this.#queue.takeNext()!.admit();
    if (!this.#time.tick()) return;
    const overdue = this.#time.now - MAX_ADMISSION_WAIT;
    for (let i = 0; i < BATCH; i++) {
      const { oldest } = this.#queue;
      if (oldest === undefined || this.#since.get(oldest)! > overdue) return;
      this.#queue.remove(oldest);
      oldest.refuse();
    }
  }
}
