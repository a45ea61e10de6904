/**
 * The public keys of a token issuer. Keys are fetched when they are needed, and kept. They are fetched again when they
 * are old, or when a token names an unknown key.
 *
 * @module
 */
import { createLocalJWKSet, type LocalJWKSet } from "jose";
import * as z from "zod";
import { issueLines } from "../kernel/json/issues.ts";
import type { Clock } from "../kernel/time/clock.ts";

/** Age at which keys are fetched again, ms. */
export const KEYS_MAX_AGE = 20 * 60_000;

/** Least time between two fetches because of unknown keys, and after a failure, ms: callers can provoke both. */
export const KEYS_PAUSE = 10_000;

/**
 * Most keys of an issuer. Issuers have a handful. A token without a key's name costs a verification for each fitting
 * key.
 */
export const MAX_KEYS = 100;

const keySet = z.object({
  keys: z.array(z.looseObject({}, { error: "a key" }), { error: "a list of keys" })
    .max(MAX_KEYS, { error: `at most ${MAX_KEYS} keys` }),
}, { error: "a JSON Web Key Set" });

/**
 * Reads a JSON Web Key Set.
 *
 * @throws TypeError with the problem of the text
 */
export function parseKeySet(text: string): LocalJWKSet {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new TypeError("expected a JSON Web Key Set, got text that is not JSON");
  }
  const { success, error } = keySet.safeParse(value, { reportInput: true });
  if (!success) throw new TypeError(issueLines(error.issues, "the key set").join(", "));
  return createLocalJWKSet(value as Parameters<typeof createLocalJWKSet>[0]);
}

/** The keys of one issuer. Fetched keys stay until other keys are fetched, however long fetches fail. */
export class TokenKeys {
  readonly #fetchText: () => Promise<string>;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #onFailure: (reason: string) => void;
  #keys: LocalJWKSet | undefined;
  #fetchedAt = -Infinity;
  #triedAt = -Infinity;
  #failure = "";
  #fetching: Promise<void> | undefined;

  /**
   * @param fetchText Gets the key set as JSON, within bounds of time and size.
   * @param onFailure Called with the reason of a failed fetch.
   */
  constructor(
    fetchText: () => Promise<string>,
    clock: Pick<Clock, "monotonic">,
    onFailure: (reason: string) => void = () => {},
  ) {
    this.#fetchText = fetchText;
    this.#clock = clock;
    this.#onFailure = onFailure;
  }

  /**
   * The keys.
   *
   * @throws Error with the reason when there are none yet
   */
  async current(): Promise<LocalJWKSet> {
    if (this.#clock.monotonic() - this.#fetchedAt >= KEYS_MAX_AGE) await this.#refresh();
    if (this.#keys === undefined) throw new Error(this.#failure);
    return this.#keys;
  }

  /**
   * Called when a token did not fit the keys. Fetches the keys again, unless they were just fetched.
   *
   * @returns whether there are other keys now
   */
  async renewed(keys: LocalJWKSet): Promise<boolean> {
    if (this.#keys === keys) await this.#refresh();
    return this.#keys !== undefined && this.#keys !== keys;
  }

  /** One fetch at a time, and no fetch within the pause after the last. */
  async #refresh(): Promise<void> {
    if (this.#fetching === undefined) {
      const now = this.#clock.monotonic();
      if (now - this.#triedAt < KEYS_PAUSE) return;
      this.#triedAt = now;
      this.#fetching = this.#tryFetch().finally(() => this.#fetching = undefined);
    }
    await this.#fetching;
  }

  async #tryFetch(): Promise<void> {
    try {
      this.#keys = parseKeySet(await this.#fetchText());
      this.#fetchedAt = this.#clock.monotonic();
    } catch (error) {
      this.#failure = `the issuer's keys cannot be fetched: ${(error as Error).message}`;
      this.#onFailure(this.#failure);
    }
  }
}
