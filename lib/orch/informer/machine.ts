/**
 * The states of one informer, apart from all input and output.
 *
 *     list, page by page ──last page──> watch from its version ──ends──> watch from the last version
 *        ^   a page's token is too old,      │
 *        └── the version is too old, no progress in three attempts
 *
 * Objects go only when a whole list lacks them, or when the API reports their end: whatever breaks, nothing is taken
 * for gone because it was not heard of.
 *
 * @module
 */
import { type CacheChange, type CacheEvent, cacheKey, type KeptObject, ObjectCache } from "./cache.ts";

/** What is to be asked next. */
export type InformerStep =
  | { readonly ask: "page"; /** Undefined: the first page. */ readonly token: string | undefined }
  | { readonly ask: "watch"; readonly version: string };

/** A page of a list. */
export interface ListPage<T> {
  readonly objects: readonly KeptObject<T>[];
  /** Version of the whole list. */
  readonly version: string;
  /** Empty: this is the last page. */
  readonly token: string;
}

/** Attempts without progress after which everything is listed anew. */
const MAX_ATTEMPTS = 3;

/** See the module. */
export class InformerMachine<T> {
  readonly cache = new ObjectCache<T>();
  /** Whether a whole list was taken once. */
  synced = false;
  #step: InformerStep = { ask: "page", token: undefined };
  /** Objects of the pages so far. */
  #listed = new Map<string, KeptObject<T>>();
  #attempts = 0;

  get step(): InformerStep {
    return this.#step;
  }

  /** Takes a page. @returns what the list changed, with its last page */
  page({ objects, version, token }: ListPage<T>): CacheChange<T> | undefined {
    if (this.#step.ask !== "page") throw new Error("a page came that was not asked for");
    this.#attempts = 0;
    for (const object of objects) this.#listed.set(cacheKey(object), object);
    if (token !== "") {
      this.#step = { ask: "page", token };
      return undefined;
    }
    const change = this.cache.replace(this.#listed);
    this.#listed = new Map();
    this.#step = { ask: "watch", version };
    this.synced = true;
    return change;
  }

  /**
   * Takes events of a watch.
   *
   * @param version That of the last of them, or of a bookmark; empty: not known.
   */
  events(events: readonly CacheEvent<T>[], version: string): CacheChange<T> {
    if (this.#step.ask !== "watch") throw new Error("events came that were not asked for");
    this.#attempts = 0;
    if (version !== "") this.#step = { ask: "watch", version };
    return this.cache.apply(events);
  }

  /** The step failed. @param expired The version or the token is too old */
  failed(expired: boolean): void {
    this.#attempts++;
    if (expired || this.#attempts >= MAX_ATTEMPTS) this.#listAnew();
  }

  #listAnew(): void {
    this.#attempts = 0;
    this.#listed = new Map();
    this.#step = { ask: "page", token: undefined };
  }
}
