/**
 * From the store to the pipeline: changes in their order, large ones in steps.
 *
 * @module
 */
import type { ChangeSet } from "../config/store.ts";
import type { AnyConfigObject } from "../config/types.ts";
import type { Pipeline } from "./pipeline.ts";

/** Objects in one change, above which it is taken in by steps. */
const MANY = 500;

/** Hands changes of a store to a pipeline. */
export class HandOver {
  readonly #pipeline: Pipeline;
  readonly #ending = new AbortController();
  /** Resolves when the last change that was taken has been handed over; undefined: it has. */
  #last: Promise<void> | undefined;

  constructor(pipeline: Pipeline) {
    this.#pipeline = pipeline;
  }

  /** Takes a change set; a small one has been handed over when this returns, if nothing waits before it. */
  take({ added, updated, removed }: ChangeSet): void {
    // The store's lists are of ConfigObject; the union by kind is the same objects with `kind` telling the spec's type.
    const old = [...removed, ...updated.map((update) => update.old)] as AnyConfigObject[];
    const now = [...added, ...updated.map((update) => update.new)] as AnyConfigObject[];
    const count = old.length + now.length;
    if (count === 0) return;
    if (this.#last === undefined && count <= MANY) return this.#pipeline.configChanged(old, now);
    const last = (this.#last ?? Promise.resolve())
      .then(() => this.#pipeline.manyChanged(old, now, this.#ending.signal))
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
