/**
 * The credentials of one stream.
 *
 * @module
 */

import { SmallMultimap } from "../../registry/small_multimap.ts";
import type { EncodedResource } from "../../resource/encoded.ts";
import type { ResourceSet } from "../../resource/set.ts";

/**
 * A credential, or the reason why the credential is missing. `undefined` as the reason: the right is still being asked
 * about.
 */
export type FoundCredential = EncodedResource | { readonly why: string | undefined };

/** Finds the credentials of a stream, and hears about the stream's refusals. */
export interface CredentialSource {
  readonly changed: () => void;
  readonly find: (resource: string, watch: (key: string) => void) => FoundCredential;
  readonly refused: (resource: string, why: string) => void;
  readonly watch: (key: string, credentials: ProxyCredentials) => void;
  readonly unwatch: (key: string, credentials: ProxyCredentials) => void;
  readonly closed: () => void;
}

const NO_KEYS: readonly never[] = [];

/**
 * Most credentials of one stream. A gateway has thousands at most. Names above the limit are not kept: a name takes 700
 * bytes.
 */
export const MAX_CREDENTIALS = 20_000;

/**
 * The credentials of a stream, as the client asks for them. The cost of a name does not depend on the number of names.
 */
export class ProxyCredentials {
  readonly #source: CredentialSource;
  /** Requested names, with the keys of the objects that decide about each name. */
  readonly #wanted = new Map<string, readonly string[]>();
  /** Names by key: the reverse of the requested names. */
  readonly #waiting = new SmallMultimap<string, string>();
  /** Reasons of refusals, by name: each reason is reported once. */
  readonly #refused = new Map<string, string>();
  /** Requested names whose right is not known yet. */
  readonly #undecided = new Set<string>();
  /** Whether the stream asked for more names than allowed. The excess is reported once. */
  #isFull = false;
  #set: ResourceSet;

  constructor(empty: ResourceSet, source: CredentialSource) {
    this.#set = empty;
    this.#source = source;
  }

  /** The credentials that were found. */
  get set(): ResourceSet {
    return this.#set;
  }

  /**
   * Why a name is not sent, whether the name was requested or not; undefined: the name is sent, or is still undecided.
   */
  whyNot(name: string): string | undefined {
    const found = this.#source.find(name, () => {});
    return "why" in found ? found.why : undefined;
  }

  /** Whether a name is still undecided. */
  isUndecided(name: string): boolean {
    return this.#undecided.has(name);
  }

  /** Adds requested names. Names that are not credentials are ignored here. */
  want(names: Iterable<string>): void {
    const taken: string[] = [];
    let more = MAX_CREDENTIALS - this.#wanted.size;
    for (const name of names) {
      if (!isCredential(name)) continue;
      if (this.#wanted.has(name) || more-- > 0) taken.push(name);
      else this.#refuseMore(name);
    }
    this.#look(taken);
  }

  #refuseMore(name: string): void {
    if (!this.#isFull) this.#source.refused(name, `a stream gets at most ${MAX_CREDENTIALS} credentials`);
    this.#isFull = true;
  }

  /** Removes requested names. */
  unwant(names: Iterable<string>): void {
    const gone = [...names].filter((name) => this.#wanted.has(name));
    for (const name of gone) {
      this.#forget(name);
      this.#wanted.delete(name);
      this.#refused.delete(name);
      this.#undecided.delete(name);
    }
    this.#set = this.#set.with([], gone);
  }

  /** An object changed. */
  lookAgain(key: string): void {
    this.#lookAt(this.#waiting.get(key));
  }

  /** The rights have changed. */
  lookAgainAtAll(): void {
    this.#lookAt([...this.#wanted.keys()]);
  }

  #lookAt(names: readonly string[]): void {
    const before = this.#set;
    const undecided = [...this.#undecided];
    this.#look(names);
    if (this.#set !== before || undecided.some((name) => !this.#undecided.has(name))) this.#source.changed();
  }

  /** The stream is over. */
  close(): void {
    this.#source.closed();
    for (const name of this.#wanted.keys()) this.#forget(name);
    this.#wanted.clear();
  }

  #look(names: readonly string[]): void {
    const found: EncodedResource[] = [];
    const missing: string[] = [];
    for (const name of names) {
      const keys: string[] = [];
      const answer = this.#source.find(name, (key) => void keys.push(key));
      this.#forget(name);
      this.#remember(name, keys);
      if ("why" in answer) {
        const { why } = answer;
        missing.push(name);
        if (why === undefined) {
          this.#undecided.add(name);
          continue;
        }
        this.#undecided.delete(name);
        if (this.#refused.get(name) !== why) this.#source.refused(name, why);
        this.#refused.set(name, why);
      } else {
        found.push(answer);
        this.#undecided.delete(name);
        this.#refused.delete(name);
      }
    }
    this.#set = this.#set.with(found, missing);
  }

  #remember(name: string, keys: readonly string[]): void {
    this.#wanted.set(name, keys.length === 0 ? NO_KEYS : keys);
    for (const key of keys) {
      if (!this.#waiting.has(key)) this.#source.watch(key, this);
      this.#waiting.add(key, name);
    }
  }

  #forget(name: string): void {
    for (const key of this.#wanted.get(name) ?? []) {
      this.#waiting.delete(key, name);
      if (!this.#waiting.has(key)) this.#source.unwatch(key, this);
    }
  }
}

function isCredential(name: string): boolean {
  return /^(?:kubernetes|kubernetes-gateway|configmap|invalid):\/\//.test(name);
}
