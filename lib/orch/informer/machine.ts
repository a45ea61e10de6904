/**
 * The states of one informer, apart from all input and output.
 *
 *     list, page by page ──last page──> watch from its version ──ends──> watch from the last version
 *        ^   a page's token is too old,      │
 *        └── the version is too old, no progress in three attempts
 *
 * Objects go only when a whole list lacks them, or when the API reports their end: no failure makes an object count as
 * gone because it was not heard of.
 *
 * @module
 */
import { type CacheChange, type CacheEvent, cacheKey, type KeptObject, ObjectCache } from "./cache.ts";

/** The next step of an informer. */
export type InformerStep =
  | {
    readonly ask: "page";
    /** Undefined: the first page. */
    readonly token: string | undefined;
    /** How new the list is to be; of the first page. */
    readonly asOf: ListAge;
  }
  | { readonly ask: "watch"; readonly version: string };

/**
 * How new a list is to be.
 *
 * - `any`: as the server has it at hand. Nothing is known yet that it could contradict.
 * - a version: no older than that, so that the known objects do not go back in time.
 * - `now`: as of now, without regard to versions so far: after a list that failed. An API that was restored from a
 *   backup has lower versions than it had, and never the one that is asked for.
 */
export type ListAge = "any" | "now" | { readonly version: string };

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

export class InformerMachine<T> {
  readonly cache = new ObjectCache<T>();
  /** Whether a whole list was taken once. */
  synced = false;
  #step: InformerStep = { ask: "page", token: undefined, asOf: "any" };
  #version = "";
  /** Objects of the pages so far. */
  #listed = new Map<string, KeptObject<T>>();
  #attempts = 0;

  /** The last version that was heard of; empty: none. */
  get version(): string {
    return this.#version;
  }

  get step(): InformerStep {
    return this.#step;
  }

  /** Takes a page. @returns the changes of the list, with its last page */
  page({ objects, version, token }: ListPage<T>): CacheChange<T> | undefined {
    if (this.#step.ask !== "page") throw new Error("a page came that was not asked for");
    this.#attempts = 0;
    for (const object of objects) this.#listed.set(cacheKey(object), object);
    if (token !== "") {
      this.#step = { ask: "page", token, asOf: this.#step.asOf };
      return undefined;
    }
    const change = this.cache.replace(this.#listed);
    this.#listed = new Map();
    this.#watchFrom(version);
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
    if (version !== "") this.#watchFrom(version);
    return this.cache.apply(events);
  }

  /** The step failed. @param expired The version or the token is too old */
  failed(expired: boolean): void {
    this.#attempts++;
    const { ask } = this.#step;
    if (expired || this.#attempts >= MAX_ATTEMPTS) this.#listAnew(ask === "page" ? "now" : { version: this.#version });
    else if (ask === "page" && this.#step.token === undefined) this.#step = { ...this.#step, asOf: "now" };
  }

  /** The known state is doubted: everything is listed anew, no older than that version. A list that is under way goes on. */
  doubted(version: string): void {
    if (this.#step.ask === "watch") this.#listAnew({ version });
  }

  #listAnew(asOf: ListAge): void {
    this.#attempts = 0;
    this.#listed = new Map();
    this.#step = { ask: "page", token: undefined, asOf };
  }

  #watchFrom(version: string): void {
    this.#version = version;
    this.#step = { ask: "watch", version };
  }
}
