/**
 * Admission of new streams: a token bucket with a queue. In a storm of reconnecting proxies streams wait; a refused
 * proxy would only come again.
 *
 * Clients are served in turn, and each client's streams in order, so that a client with many streams delays only
 * itself. Clients without an identity are grouped by address: a group with many clients has more turns than a single
 * client, but fewer than one for each member. The end of a waiting stream frees a place.
 *
 * @module
 */
import { type Cancel, type Clock, systemClock } from "../kernel/time/clock.ts";
import { RemoteTime } from "../sockets/patience.ts";
import { WeightedQueue } from "./weighted_queue.ts";

/**
 * Longest wait for admission; after the wait a stream is refused. In milliseconds of {@linkcode RemoteTime}, where the
 * time of a stalled event loop does not count.
 */
export const MAX_ADMISSION_WAIT = 10_000;

/** Most waiting streams, at any rate: twice a server's default number of connections. */
export const MAX_WAITING_STREAMS = 20_000;

/** Longest time between two looks at the waiting streams, in milliseconds. */
const LOOK = 1000;

/** Streams admitted or refused before the event loop gets its turn. */
const BATCH = 64;

/**
 * The admissions a second for a limit of 0. Computing and sending a first configuration costs 3 to 5 ms of CPU
 * (measured as the share of one proxy in a storm of 400), so that a core serves 200 streams a second.
 */
export function defaultAdmissionRate(cores: number): number {
  return 200 * Math.max(1, cores);
}

/** A stream waiting for admission. Exactly one of both methods is called, at most once. Neither throws. */
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
  /** The clock of the waiting streams. A new one starts whenever the queue was empty before. */
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

  /** Number of waiting streams. */
  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Admits a stream now or later, or refuses it. After a quiet second, up to one second's worth of streams pass without
   * waiting. When too many streams wait, the group with the most streams for its weight loses a stream: the newest of
   * its client with the most streams.
   *
   * @param client key of the client, compared like keys of a Map
   * @param group key of the group that shares turns with the client, e.g. an address. Default: the client alone.
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

  /** Notes the end of a stream. A waiting stream frees a place. */
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

  /**
   * Sets a timer for the next admission or the end of the longest wait, whichever comes first, but for at most
   * {@linkcode LOOK}.
   */
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
