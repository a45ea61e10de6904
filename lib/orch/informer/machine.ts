/**
 * The states of one informer, without any input and output.
 *
 *     list, page by page ──last page──> watch from its version ──ends──> watch from the last version
 *        ^   a page's token is too old,      │
 *        └── the version is too old, no progress in three attempts
 *
 * An object is removed only when a whole list lacks the object, or when the API reports its end. A failure never
 * removes an object.
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
    /** How new the list must be; set for the first page. */
    readonly asOf: ListAge;
  }
  | { readonly ask: "watch"; readonly version: string };

/**
 * How new a list must be.
 *
 * - `any`: the server's state at hand. Nothing is known yet that the list could contradict.
 * - a version: no older than the version, so that the known objects do not go back in time.
 * - `now`: as of now, whatever the versions so far; used after a failed list. An API that was restored from a backup
 *   has lower versions than before, and never reaches the requested version.
 */
export type ListAge = "any" | "now" | { readonly version: string };

/** A page of a list. */
export interface ListPage<T> {
  readonly objects: readonly KeptObject<T>[];
  /** Version of the whole list. */
  readonly version: string;
  /** Empty: this page is the last. */
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

  /** The last reported version; empty: no version yet. */
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
   * @param version Version of the last event, or of a bookmark; empty: not known.
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

  /**
   * The known state is in doubt: everything is listed anew, no older than the version. A list that is under way goes
   * on.
   */
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
