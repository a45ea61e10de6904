/**
 * Admission of new streams: a token bucket whose queue waits, so that a storm of reconnecting proxies is spread out
 * rather than refused and provoked to come again. Connections are served in turn, each its streams in order, so that
 * one that opens many delays itself; a stream that ends while it waits gives its place back.
 *
 * @module
 */

/** Longest queue, in milliseconds of admissions. */
export const MAX_ADMISSION_WAIT = 10_000;

/**
 * Streams admitted each second when no limit is set. A stream costs some milliseconds (sending it all its resources),
 * so that is about the number that the server can serve; more at once would only wait for one another.
 */
export function defaultAdmissionRate(cores: number): number {
  return 200 * Math.max(1, cores);
}

/** A stream that wants to be admitted. */
export interface Waiting {
  /** It may go on. */
  admit(): void;
  /** The queue is full. */
  refuse(): void;
}

/** Time for the queue, in milliseconds. */
export interface AdmissionTime {
  now(): number;
  after(ms: number, fire: () => void): void;
}

const SYSTEM_TIME: AdmissionTime = {
  now: () => performance.now(),
  after: (ms, fire) => void setTimeout(fire, ms),
};

/** Admits streams at a rate, connection by connection. */
export class Admission {
  readonly #rate: number;
  readonly #time: AdmissionTime;
  readonly #longest: number;
  /** Streams that wait, by connection; the next turn is the first one's. */
  readonly #queues = new Map<object, Set<Waiting>>();
  #waiting = 0;
  #nextFree: number;
  #scheduled = false;

  /** @param rate admissions a second */
  constructor(rate: number, time: AdmissionTime = SYSTEM_TIME) {
    this.#rate = rate;
    this.#time = time;
    this.#longest = Math.max(1, Math.floor(rate * MAX_ADMISSION_WAIT / 1000));
    this.#nextFree = time.now() - 1000;
  }

  /** Streams that wait now. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Admits a stream now or later, or refuses it. Up to one second's worth pass without waiting after a quiet second.
   * When the queue is full, the connection with most streams in it loses its last one.
   */
  request(connection: object, stream: Waiting): void {
    if (this.#waiting === 0 && this.#takeToken()) return stream.admit();
    const own = this.#queues.get(connection);
    if (this.#waiting >= this.#longest && !this.#makeRoom(own?.size ?? 0)) return stream.refuse();
    if (own === undefined) this.#queues.set(connection, new Set([stream]));
    else own.add(stream);
    this.#waiting++;
    this.#schedule();
  }

  /** A stream has ended; if it waited, its place is free. */
  leave(connection: object, stream: Waiting): void {
    const queue = this.#queues.get(connection);
    if (queue?.delete(stream) !== true) return;
    this.#waiting--;
    if (queue.size === 0) this.#queues.delete(connection);
  }

  #makeRoom(own: number): boolean {
    let most: [object, Set<Waiting>] | undefined;
    for (const entry of this.#queues) if (most === undefined || entry[1].size > most[1].size) most = entry;
    if (most === undefined || most[1].size <= own + 1) return false;
    const last = [...most[1]].at(-1)!;
    this.leave(most[0], last);
    last.refuse();
    return true;
  }

  #takeToken(): boolean {
    const now = this.#time.now();
    const at = Math.max(this.#nextFree, now - 1000);
    if (at > now) return false;
    this.#nextFree = at + 1000 / this.#rate;
    return true;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#time.after(Math.max(1, this.#nextFree - this.#time.now()), () => {
      this.#scheduled = false;
      while (this.#waiting > 0 && this.#takeToken()) this.#admitNext();
      if (this.#waiting > 0) this.#schedule();
    });
  }

  #admitNext(): void {
    const [connection, queue] = this.#queues.entries().next().value!;
    const [stream] = queue;
    this.leave(connection, stream!);
    if (queue.size > 0) {
      this.#queues.delete(connection);
      this.#queues.set(connection, queue);
    }
    stream!.admit();
  }
}
