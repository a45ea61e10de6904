/**
 * Shares the event loop among connections: each works off what it has received for a short time, then another one may.
 * The one that has worked least of late comes first, so a client that sends rarely hardly waits for one that
 * sends without end, and many that send without end get equal shares.
 *
 * Some input cannot be cut into short pieces: a message that is 4 MB when it is unpacked takes many milliseconds. What
 * others wait for (a file, a timer, a socket) goes on by small steps, and each would wait for such a piece. So after a long
 * piece those that have taken much of late rest for as long as it took.
 *
 * @module
 */

/** Something that receives input to work off. */
export interface InputQueue {
  /**
   * Works until `enough` is true or nothing is left.
   *
   * @returns whether something is left
   */
  work(enough: () => boolean): boolean;
}

/** Where time comes from; tests have their own. */
export interface TurnClock {
  /** Milliseconds. */
  now(): number;
  /** Calls back in a turn of the event loop: the next one, or the first after so many milliseconds. */
  nextTurn(callback: () => void, rest: number): void;
}

/** Milliseconds that one queue may take before another one gets its turn. */
const SLICE = 1;
/** Milliseconds of work in one turn of the event loop, before sockets and timers are looked at again. */
const TURN = 4;
/** Milliseconds after which half of what a queue has taken is forgotten. */
const HALF_LIFE = 500;
/** Longest rest after a long piece of work, ms. */
const LONGEST_REST = 50;
/** Queues wait in lines by what they have taken of late: below 1 ms, 2 ms, 4 ms, ..., 128 ms, and more. */
const LINES = 9;
/** The first line of those that rest: they have taken 32 ms of late. */
const FIRST_RESTING = 6;

/** A timer, because on Deno 2.8.3 immediates that follow each other keep sockets waiting for hundreds of milliseconds. */
const CLOCK: TurnClock = {
  now: () => performance.now(),
  nextTurn: (callback, rest) => void setTimeout(callback, rest),
};

/** The turns of the queues of one server. */
export class Turns {
  readonly #lines: readonly Set<InputQueue>[] = Array.from({ length: LINES }, () => new Set<InputQueue>());
  /** The line in which each queue waits. */
  readonly #places = new Map<InputQueue, Set<InputQueue>>();
  readonly #taken = new WeakMap<InputQueue, { ms: number; at: number }>();
  /** Milliseconds of work in the turn that began at `#since`. */
  #spent = 0;
  #since = -Infinity;
  /** The turn that was asked for, and when it comes. */
  #asked: { readonly at: number } | undefined;
  /** Until then, those that have taken much rest. */
  #restUntil = -Infinity;

  readonly #clock: TurnClock;

  constructor(clock: TurnClock = CLOCK) {
    this.#clock = clock;
  }

  /** The queue has received input. It is worked off at once if this turn has time and no queue that took less waits. */
  add(queue: InputQueue): void {
    if (this.#places.has(queue)) return;
    let now = this.#clock.now();
    // As long as no queue waits no turn is asked for; sockets were looked at in the time that has passed.
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

  /** The queue waits no more; called when it has gone. */
  remove(queue: InputQueue): void {
    this.#places.get(queue)?.delete(queue);
    this.#places.delete(queue);
  }

  /** Queues that wait for a turn. */
  get waiting(): number {
    return this.#places.size;
  }

  #begin(now: number): void {
    this.#since = now;
    this.#spent = 0;
  }

  /** Asks for a turn when a queue waits for it, and for an earlier one when a queue came that need not rest. */
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

  /** Milliseconds that the queue has taken of late. */
  #recent(queue: InputQueue, now: number): number {
    const taken = this.#taken.get(queue);
    return taken === undefined ? 0 : taken.ms * 2 ** ((taken.at - now) / HALF_LIFE);
  }
}
