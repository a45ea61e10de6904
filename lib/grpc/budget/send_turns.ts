/**
 * Shares the event loop among connections that send. A socket that takes bytes at once calls back before the event loop
 * turns, so a hundred clients that read fast would keep signals, timers and other sockets waiting for a second. After
 * some milliseconds of sending, connections wait for the next turn of the event loop, each in its order.
 *
 * @module
 */
import { TIMER_TURNS, type TurnClock } from "./turns.ts";

/** Milliseconds of sending in one turn of the event loop. */
const SEND_TURN = 8;

/** A connection with something to send. */
export interface TurnSender {
  /** Sends a part. Asks {@linkcode SendTurns.wait} for another turn if something is left. */
  flush(): void;
}

/** The turns of a server's sending connections. */
export class SendTurns {
  readonly #waiting = new Set<TurnSender>();
  readonly #clock: TurnClock;
  /** Milliseconds of sending in the turn that began at `#since`. */
  #spent = 0;
  #since = -Infinity;
  #isAsked = false;

  constructor(clock: TurnClock = TIMER_TURNS) {
    this.#clock = clock;
  }

  /** Whether a sender has to wait for the next turn. */
  get isOver(): boolean {
    return this.#spent >= SEND_TURN;
  }

  /** Runs a piece of sending, and counts its time. */
  count(send: () => void): void {
    const from = this.#clock.now();
    // Other work has run since the last pieces, so that the event loop has turned.
    if (!this.#isAsked && from - this.#since >= 2 * SEND_TURN) this.#begin(from);
    send();
    this.#spent += this.#clock.now() - from;
    if (this.isOver) this.#ask();
  }

  /** The sender flushes again in the next turn. */
  wait(sender: TurnSender): void {
    this.#waiting.add(sender);
    this.#ask();
  }

  /** The sender has nothing to send any more. */
  remove(sender: TurnSender): void {
    this.#waiting.delete(sender);
  }

  #begin(now: number): void {
    this.#since = now;
    this.#spent = 0;
  }

  #ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    this.#clock.nextTurn(() => this.#turn(), 0);
  }

  #turn(): void {
    this.#isAsked = false;
    this.#begin(this.#clock.now());
    for (const sender of this.#waiting) {
      if (this.isOver) return this.#ask();
      this.#waiting.delete(sender);
      sender.flush();
    }
  }
}
