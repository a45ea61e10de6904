/**
 * The credentials that one stream asks for.
 *
 * @module
 */
import type { EncodedResource } from "../../resource/encoded.ts";
import type { ResourceSet } from "../../resource/set.ts";

/** A credential; or why there is none, `undefined` while that is being found out. */
export type FoundCredential = EncodedResource | { readonly why: string | undefined };

/** Where they come from. */
export interface CredentialSource {
  readonly changed: () => void;
  readonly find: (resource: string, watch: (key: string) => void) => FoundCredential;
  readonly refused: (resource: string, why: string) => void;
  readonly watch: (key: string, credentials: ProxyCredentials) => void;
  readonly unwatch: (key: string, credentials: ProxyCredentials) => void;
  readonly closed: () => void;
}

/** See the module. Each name costs itself alone, whatever was asked before. */
export class ProxyCredentials {
  readonly #source: CredentialSource;
  /** Names that are asked for, with the keys of the objects that decide about them. */
  readonly #wanted = new Map<string, ReadonlySet<string>>();
  /** The other way round. */
  readonly #waiting = new Map<string, Set<string>>();
  /** What was refused, by name: each reason is reported once. */
  readonly #refused = new Map<string, string>();
  /** Names of which nobody knows yet whether they may be read. */
  readonly #undecided = new Set<string>();
  #set: ResourceSet;

  constructor(empty: ResourceSet, source: CredentialSource) {
    this.#set = empty;
    this.#source = source;
  }

  /** Those that are there. */
  get set(): ResourceSet {
    return this.#set;
  }

  /** Whether it is being found out what becomes of a name. */
  isUndecided(name: string): boolean {
    return this.#undecided.has(name);
  }

  /** The proxy asks for more; names that are none of credentials are left to others. */
  want(names: Iterable<string>): void {
    this.#look([...names].filter(isCredential));
  }

  /** It asks for these no longer. */
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
    this.#lookAt([...this.#waiting.get(key) ?? []]);
  }

  /** Other things may be read than before. */
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
    for (const key of this.#waiting.keys()) this.#source.unwatch(key, this);
    this.#waiting.clear();
    this.#wanted.clear();
  }

  #look(names: readonly string[]): void {
    const found: EncodedResource[] = [];
    const missing: string[] = [];
    for (const name of names) {
      const keys = new Set<string>();
      const answer = this.#source.find(name, (key) => keys.add(key));
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

  #remember(name: string, keys: ReadonlySet<string>): void {
    this.#wanted.set(name, keys);
    for (const key of keys) {
      const names = this.#waiting.get(key);
      if (names) names.add(name);
      else {
        this.#waiting.set(key, new Set([name]));
        this.#source.watch(key, this);
      }
    }
  }

  #forget(name: string): void {
    for (const key of this.#wanted.get(name) ?? []) {
      const names = this.#waiting.get(key);
      if (!names?.delete(name) || names.size > 0) continue;
      this.#waiting.delete(key);
      this.#source.unwatch(key, this);
    }
  }
}

function isCredential(name: string): boolean {
  return /^(?:kubernetes|kubernetes-gateway|configmap|invalid):\/\//.test(name);
}
