/**
 * Keys of token issuers that the server fetches for proxies. Each place is fetched once, however many rules name it.
 *
 *     named by a rule ─> fetched ─┬─ keys ─────> again after the refresh interval
 *                          ^      └─ failure ──> again after 1 s, 2 s, 4 s ... 1 min; the last keys stay
 *                          └───────────────────────┘
 *     named no more ───> kept for a minute, then dropped
 *
 * @module
 */
import { EMPTY_KEY_SET, type KeyPlace, keyPlace } from "../../../config/kinds/request_authentication/key_set.ts";
import type { ConfigObject } from "../../../config/types.ts";
import type { Cancel, Clock } from "../../../kernel/time/clock.ts";
import type { TokenKeySource } from "../../../mesh/options.ts";
import { keyPlacesOf, type KeyPlaceUse } from "./places.ts";

/** Time to the first new try after a failure, ms. The time doubles with each further failure. */
const FIRST_RETRY_MS = 1000;

/** Longest time between two tries, ms. */
export const LAST_RETRY_MS = 60_000;

/** Time for which unused keys are kept, ms: a rule that moves to another object or file needs its keys at once. */
export const KEPT_UNUSED_MS = 60_000;

/** Most concurrent fetches. Places that were never fetched go first. */
export const MAX_FETCHES = 64;

/** Timeout of a fetch without a timeout in a rule, ms. */
export const FETCH_TIMEOUT_MS = 5000;

/** Longest timeout that a rule may set, ms. */
export const LONGEST_FETCH_MS = 30_000;

/** The reason in the finding about a fetched key set that verifies nothing. */
const WITHOUT_KEYS = "the key set has no key that verifies tokens (RSA, EC on P-256, P-384 or P-521, Ed25519, oct)";

/** The inputs of a resolver. */
export interface TokenKeyResolverOptions {
  readonly clock: Pick<Clock, "after">;
  /** Age at which keys are fetched again, ms. */
  readonly refreshInterval: number;
  /** Whether the server fetches from a place at all. */
  readonly fetches: (place: KeyPlace) => boolean;
  /** Gets keys as the text for proxies. @throws Error with the address and the reason */
  readonly get: (place: KeyPlace, options: { timeout: number; signal: AbortSignal }) => Promise<string>;
  /** Called when the keys of a place have changed, could not be fetched, or can be fetched again. */
  readonly changed: (place: string) => void;
}

/** The last fetch of a place failed, or brought no key. */
export interface KeyFailure {
  readonly place: string;
  readonly reason: string;
  /** Whether there are keys of an earlier fetch. */
  readonly hasKeys: boolean;
  readonly uses: readonly KeyPlaceUse[];
}

class FetchedPlace {
  readonly name: string;
  /** By key of the object. */
  readonly uses = new Map<string, readonly KeyPlaceUse[]>();
  keys: string | undefined;
  failure: string | undefined;
  failures = 0;
  tried = false;
  fetching: AbortController | undefined;
  /** The timer of the next fetch. */
  next: Cancel = () => {};
  /** The timer that drops the place. */
  end: Cancel | undefined;

  constructor(name: string) {
    this.name = name;
  }
}

/** All places. */
export class TokenKeyResolver implements TokenKeySource {
  readonly #options: TokenKeyResolverOptions;
  readonly #places = new Map<string, FetchedPlace>();
  /** Places that are due: never fetched before, and others. */
  readonly #fresh = new Set<FetchedPlace>();
  readonly #due = new Set<FetchedPlace>();
  readonly #waiting = new Set<() => void>();
  #underWay = 0;
  #stopped = false;

  constructor(options: TokenKeyResolverOptions) {
    this.#options = options;
  }

  keysAt(place: string): string | undefined {
    return this.#places.get(place)?.keys;
  }

  /** Replaces objects. New places are fetched at once. */
  update(
    removed: readonly ConfigObject<"RequestAuthentication">[],
    added: readonly ConfigObject<"RequestAuthentication">[],
  ): void {
    const touched = new Set<FetchedPlace>();
    for (const object of removed) {
      for (const name of keyPlacesOf(object).keys()) {
        const place = this.#places.get(name);
        if (place?.uses.delete(object.key)) touched.add(place);
      }
    }
    for (const object of added) {
      for (const [name, uses] of keyPlacesOf(object)) {
        const place = this.#place(name);
        place.uses.set(object.key, uses);
        touched.add(place);
      }
    }
    for (const place of touched) this.#review(place);
    this.#startFetches();
  }

  /** Resolves when every named place has been tried. */
  async tried(): Promise<void> {
    while (!this.#stopped && [...this.#places.values()].some((place) => place.uses.size > 0 && this.#untried(place))) {
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** The places without keys, and the places whose last fetch failed. */
  *failures(): Iterable<KeyFailure> {
    for (const { name, failure, keys, uses } of this.#places.values()) {
      const hasKeys = keys !== undefined && keys !== EMPTY_KEY_SET;
      const reason = failure ?? (keys === EMPTY_KEY_SET ? WITHOUT_KEYS : undefined);
      if (reason === undefined || uses.size === 0) continue;
      yield { place: name, reason, hasKeys, uses: [...uses.values()].flat() };
    }
  }

  /** The rules whose places the server does not fetch from. */
  *usesElsewhere(): Iterable<KeyPlaceUse> {
    for (const { name, uses } of this.#places.values()) {
      if (!this.#options.fetches(keyPlace(name))) { for (const list of uses.values()) yield* list; }
    }
  }

  /** No more fetches. */
  stop(): void {
    this.#stopped = true;
    for (const place of this.#places.values()) this.#drop(place);
    this.#wake();
  }

  #untried({ name, tried }: FetchedPlace): boolean {
    return !tried && this.#options.fetches(keyPlace(name));
  }

  #place(name: string): FetchedPlace {
    const known = this.#places.get(name) ?? new FetchedPlace(name);
    this.#places.set(name, known);
    return known;
  }

  /** The rules that name a place have changed. */
  #review(place: FetchedPlace): void {
    if (this.#stopped) return;
    if (place.uses.size === 0) {
      place.end ??= this.#options.clock.after(KEPT_UNUSED_MS, () => this.#drop(place));
      return;
    }
    place.end?.();
    place.end = undefined;
    if (this.#untried(place) && place.fetching === undefined) this.#fresh.add(place);
  }

  #drop(place: FetchedPlace): void {
    place.next();
    place.end?.();
    place.fetching?.abort();
    this.#fresh.delete(place);
    this.#due.delete(place);
    this.#places.delete(place.name);
  }

  #startFetches(): void {
    while (this.#underWay < MAX_FETCHES && !this.#stopped) {
      const place = first(this.#fresh) ?? first(this.#due);
      if (place === undefined) return;
      this.#fresh.delete(place);
      this.#due.delete(place);
      void this.#try(place);
    }
  }

  async #try(place: FetchedPlace): Promise<void> {
    const fetching = place.fetching = new AbortController();
    this.#underWay++;
    const before = { keys: place.keys, failed: place.failure !== undefined };
    let outcome: { readonly keys: string } | { readonly reason: string };
    try {
      const options = { timeout: timeoutOf(place), signal: fetching.signal };
      outcome = { keys: await this.#options.get(keyPlace(place.name), options) };
    } catch (error) {
      outcome = { reason: (error as Error).message };
    }
    this.#underWay--;
    place.fetching = undefined;
    // The place was dropped meanwhile. A new place of the same name has a fetch of its own.
    if (this.#places.get(place.name) !== place) return this.#startFetches();
    place.tried = true;
    this.#take(place, outcome);
    if (place.keys !== before.keys || (place.failure !== undefined) !== before.failed) {
      this.#options.changed(place.name);
    }
    this.#wake();
    this.#startFetches();
  }

  #take(place: FetchedPlace, outcome: { readonly keys: string } | { readonly reason: string }): void {
    let delay = this.#options.refreshInterval;
    if ("keys" in outcome) {
      place.keys = outcome.keys;
      place.failure = undefined;
      place.failures = 0;
    } else {
      place.failure = outcome.reason;
      delay = Math.min(FIRST_RETRY_MS * 2 ** Math.min(place.failures++, 30), LAST_RETRY_MS, delay);
    }
    place.next = this.#options.clock.after(delay, () => {
      this.#due.add(place);
      this.#startFetches();
    });
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

/** The longest timeout of the place's rules. */
function timeoutOf({ uses }: FetchedPlace): number {
  const given = [...uses.values()].flat().flatMap(({ timeout }) => timeout ?? []);
  return given.length === 0 ? FETCH_TIMEOUT_MS : Math.min(Math.max(...given), LONGEST_FETCH_MS);
}

function first<T>(set: ReadonlySet<T>): T | undefined {
  for (const item of set) return item;
  return undefined;
}
