/**
 * Shares the event loop among connections. Each connection works off its input for a short time, then the next
 * connection has its turn. The connection with the least recent work comes first. So a client that sends rarely hardly
 * waits for a client that sends without end, and many endless senders get equal shares.
 *
 * Some input cannot be cut into short pieces: a message with 4 MB of unpacked content takes many milliseconds. All
 * other work (a file, a timer, a socket) goes on in small steps, and each step would wait for such a piece. So after a
 * long piece the busy connections rest for as long as the piece took.
 *
 * @module
 */

/** A receiver of input to work off. */
export interface InputQueue {
  /**
   * Works until `enough` is true or nothing is left.
   *
   * @returns whether something is left
   */
  work(enough: () => boolean): boolean;
}

/** The source of time; tests have a source of their own. */
export interface TurnClock {
  /** Milliseconds. */
  now(): number;
  /** Calls back in a turn of the event loop: in the next turn, or in the first turn after `rest` milliseconds. */
  nextTurn(callback: () => void, rest: number): void;
}

/** Most milliseconds of a queue before another queue gets a turn. */
const SLICE = 1;
/** Milliseconds of work in one turn of the event loop. After that, sockets and timers are looked at again. */
const TURN = 4;
/** Milliseconds after which half of a queue's past work is forgotten. */
const HALF_LIFE = 500;
/** Longest rest after a long piece of work, ms. */
const LONGEST_REST = 50;
/** Number of lines of waiting queues, by recent work: below 1 ms, 2 ms, 4 ms, ..., 128 ms, and more. */
const LINES = 9;
/** The first line of resting queues: queues with at least 32 ms of recent work. */
const FIRST_RESTING = 6;

/** A timer, because on Deno 2.8.3 consecutive immediates keep sockets waiting for hundreds of milliseconds. */
export const TIMER_TURNS: TurnClock = {
  now: () => performance.now(),
  nextTurn: (callback, rest) => void setTimeout(callback, rest),
};

/** The turns of a server's queues. */
export class Turns {
  readonly #lines: readonly Set<InputQueue>[] = Array.from({ length: LINES }, () => new Set<InputQueue>());
  /** The line of each waiting queue. */
  readonly #places = new Map<InputQueue, Set<InputQueue>>();
  readonly #taken = new WeakMap<InputQueue, { ms: number; at: number }>();
  /** Milliseconds of work in the turn that began at `#since`. */
  #spent = 0;
  #since = -Infinity;
  /** The requested turn and its time. */
  #asked: { readonly at: number } | undefined;
  /** The end of the rest for queues with much recent work. */
  #restUntil = -Infinity;

  readonly #clock: TurnClock;

  constructor(clock: TurnClock = TIMER_TURNS) {
    this.#clock = clock;
  }

  /**
   * The queue has received input. The input is worked off at once if this turn has time left and no queue with less
   * recent work waits.
   */
  add(queue: InputQueue): void {
    if (this.#places.has(queue)) return;
    let now = this.#clock.now();
    // While no queue waits, no turn is requested. Sockets were looked at in the meantime.
    if (now - this.#since >= 2 * TURN) this.#begin(now);
    const isAlone = this.#places.size === 0 && now >= this.#restUntil;
    if (isAlone && this.#spent < TURN) {
      now = this.#slice(queue, now);
    } else {
      this.#wait(queue, now);
      if (this.#spent < TURN && this.#first() === queue && this.#rest(now) === 0) now = this.#slice(queue, now);
    }
    this.#schedule(now);
  }

  /** The queue no longer waits. Called at the end of a queue. */
  remove(queue: InputQueue): void {
    this.#places.get(queue)?.delete(queue);
    this.#places.delete(queue);
  }

  /** Number of waiting queues. */
  get waiting(): number {
    return this.#places.size;
  }

  #begin(now: number): void {
    this.#since = now;
    this.#spent = 0;
  }

  /** Requests a turn if a queue waits, or an earlier turn if a queue without need of rest has come. */
  #schedule(now: number): void {
    if (this.#places.size === 0) return;
    const rest = this.#rest(now);
    const asked = { at: now + rest };
    if (this.#asked !== undefined && this.#asked.at <= asked.at) return;
    this.#asked = asked;
    this.#clock.nextTurn(() => this.#asked === asked && this.#turn(), rest);
  }

  /** How long the first queue has to rest, ms. */
  #rest(now: number): number {
    const rest = this.#restUntil - now;
    if (rest <= 0) return 0;
    const waits = this.#lines.slice(0, FIRST_RESTING).some((line) => line.size > 0);
    return waits ? 0 : rest;
  }

  #turn(): void {
    this.#asked = undefined;
    let now = this.#clock.now();
    this.#begin(now);
    while (this.#spent < TURN && this.#rest(now) === 0) {
      const next = this.#first();
      if (next === undefined) break;
      now = this.#slice(next, now);
    }
    this.#schedule(now);
  }

  /** Has a queue work. Returns the time afterwards. */
  #slice(queue: InputQueue, from: number): number {
    this.remove(queue);
    const left = queue.work(() => this.#clock.now() - from >= SLICE);
    const to = this.#clock.now();
    this.#spent += to - from;
    if (to - from > TURN) this.#restUntil = to + Math.min(to - from, LONGEST_REST);
    this.#taken.set(queue, { ms: this.#recent(queue, to) + to - from, at: to });
    if (left) this.#wait(queue, to);
    return to;
  }

  #first(): InputQueue | undefined {
    for (const line of this.#lines) for (const queue of line) return queue;
    return undefined;
  }

  #wait(queue: InputQueue, now: number): void {
    const recent = this.#recent(queue, now);
    const line = this.#lines[Math.min(LINES - 1, 32 - Math.clz32(recent))]!;
    line.add(queue);
    this.#places.set(queue, line);
  }

  /** The queue's recent work, in milliseconds. */
  #recent(queue: InputQueue, now: number): number {
    const taken = this.#taken.get(queue);
    return taken === undefined ? 0 : taken.ms * 2 ** ((taken.at - now) / HALF_LIFE);
  }
}
