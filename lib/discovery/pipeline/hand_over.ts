/**
 * Hands changes of a store to the pipeline in order. Large changes are handed over in steps.
 *
 * @module
 */
import type { ChangeSet, StoredObject } from "../../config/store.ts";

/** Most objects of a change that is handed over at once. A larger change goes in steps. */
const MANY = 500;

/** A receiver of changes. */
export interface ChangeTaker<O extends StoredObject> {
  /** Takes objects that were removed or changed, in their old versions, and new or changed objects. */
  few(removed: readonly O[], added: readonly O[]): void;
  /** The same as `few`, in steps between which the event loop turns. */
  many(removed: readonly O[], added: readonly O[], signal: AbortSignal): Promise<void>;
}

export class HandOver<O extends StoredObject> {
  readonly #taker: ChangeTaker<O>;
  readonly #ending = new AbortController();
  /** Resolves when the last taken change has been handed over; undefined: all changes have been handed over. */
  #last: Promise<void> | undefined;

  constructor(taker: ChangeTaker<O>) {
    this.#taker = taker;
  }

  /** Takes a change set. A small change set is handed over synchronously, if no earlier change waits. */
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

  /** Resolves when every taken change has been handed over. */
  async done(): Promise<void> {
    await this.#last;
  }

  /** Drops changes that have not been handed over. */
  end(): void {
    this.#ending.abort();
  }
}
