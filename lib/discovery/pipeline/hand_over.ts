/**
 * From a store to the pipeline: changes in their order, large ones in steps.
 *
 * @module
 */
import type { ChangeSet, StoredObject } from "../../config/store.ts";

/** Objects in one change, above which it is taken in by steps. */
const MANY = 500;

/** A receiver of changes. */
export interface ChangeTaker<O extends StoredObject> {
  /** Takes objects that went or changed, as they were, and objects that are new or changed. */
  few(removed: readonly O[], added: readonly O[]): void;
  /** The same in steps between which the event loop turns. */
  many(removed: readonly O[], added: readonly O[], signal: AbortSignal): Promise<void>;
}

/** Hands changes of a store to their taker. */
export class HandOver<O extends StoredObject> {
  readonly #taker: ChangeTaker<O>;
  readonly #ending = new AbortController();
  /** Resolves when the last change that was taken has been handed over; undefined: it has. */
  #last: Promise<void> | undefined;

  constructor(taker: ChangeTaker<O>) {
    this.#taker = taker;
  }

  /** Takes a change set; a small one has been handed over when this returns, if nothing waits before it. */
  take({ added, updated, removed }: ChangeSet<O>): void {
    const old = [...removed, ...updated.map((update) => update.old)];
    const now = [...added, ...updated.map((update) => update.new)];
    const count = old.length + now.length;
    if (count === 0) return;
    if (this.#last === undefined && count <= MANY) return this.#taker.few(old, now);
    const last = (this.#last ?? Promise.resolve())
      .then(() => this.#taker.many(old, now, this.#ending.signal))
      .finally(() => {
        if (this.#last === last) this.#last = undefined;
      });
    this.#last = last;
  }

  /** Resolves when everything that was taken has been handed over. */
  async done(): Promise<void> {
    await this.#last;
  }

  /** Gives up the changes that have not been handed over. */
  end(): void {
    this.#ending.abort();
  }
}
