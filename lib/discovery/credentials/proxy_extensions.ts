/**
 * The extension configurations of one stream, with the registry secrets that the client may read. While a right is
 * being asked about, the configuration is left out and its name is pending. Without the right, the secret is empty, and
 * the agent fetches nothing.
 *
 * @module
 */
import { sameItems } from "../../incremental/same_items.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { decode } from "../../pb/reflect.ts";
import type { EncodedResource } from "../../resource/encoded.ts";
import type { ResourceSet } from "../../resource/set.ts";
import { withPullSecret } from "../../translate/extension/pull_secret.ts";
import { WILDCARD } from "../../xds/protocol/types.ts";
import type { ProxyCredentials } from "./proxy_credentials.ts";

type Secret = envoy.extensions.transport_sockets.tls.v3.Secret;

/** Joins configurations and secrets. Each pair is made once for all streams. */
export class PulledExtensions {
  readonly #made = new WeakMap<EncodedResource, WeakMap<EncodedResource, EncodedResource>>();

  /** @param secret A generic secret. */
  of(config: EncodedResource, secret: EncodedResource): EncodedResource {
    let bySecret = this.#made.get(config);
    if (bySecret === undefined) this.#made.set(config, bySecret = new WeakMap());
    let made = bySecret.get(secret);
    if (made === undefined) {
      const { generic_secret } = decode<Secret>("envoy.extensions.transport_sockets.tls.v3.Secret", secret.value);
      made = withPullSecret(config, generic_secret?.secret?.inline_bytes as Uint8Array ?? new Uint8Array());
      bySecret.set(secret, made);
    }
    return made;
  }
}

/** The configurations that translation makes for all proxies of a group. */
export interface SharedExtensions {
  readonly sets: readonly ResourceSet[];
  /** Names of secrets by the names of the configurations that need the secrets. */
  readonly pullSecrets: ReadonlyMap<string, string>;
}

/** Inputs of a stream's configurations. */
export interface ProxyExtensionsOptions {
  readonly pulled: PulledExtensions;
  readonly shared: () => SharedExtensions;
  readonly open: (changed: () => void) => ProxyCredentials;
  /** Called with the names of configurations that have been decided. */
  readonly answered: (names: readonly string[]) => void;
}

export class ProxyExtensions {
  readonly #options: ProxyExtensionsOptions;
  readonly #asked = new Set<string>();
  #registries: ProxyCredentials | undefined;
  /** Requested secrets, by the names of their configurations. */
  #secrets: ReadonlyMap<string, string> = new Map();
  /** The inputs of the last answer; undefined: the answer must be made again. */
  #madeOf: SharedExtensions | undefined;
  #sets: readonly ResourceSet[] = [];

  constructor(options: ProxyExtensionsOptions) {
    this.#options = options;
  }

  /**
   * Adds requested names. A configuration without a secret needs no work here.
   *
   * @returns the names that are not decided yet
   */
  want(names: Iterable<string>): string[] {
    const { pullSecrets } = this.#options.shared();
    const secret: string[] = [];
    for (const name of names) {
      this.#asked.add(name);
      if (name === WILDCARD) secret.push(...pullSecrets.keys());
      else if (pullSecrets.has(name)) secret.push(name);
    }
    if (secret.length === 0) return [];
    this.#madeOf = undefined;
    return this.sets.length === 0 ? [] : secret.filter((name) => this.#isUndecided(name));
  }

  /** Removes requested names. */
  unwant(names: Iterable<string>): void {
    for (const name of names) {
      const isSecret = name === WILDCARD || this.#secrets.has(name);
      if (this.#asked.delete(name) && isSecret) this.#madeOf = undefined;
    }
  }

  /** The sets for this client. The array stays the same object while its sets are the same. */
  get sets(): readonly ResourceSet[] {
    const shared = this.#options.shared();
    const { sets, pullSecrets } = shared;
    if (this.#madeOf?.sets === sets && this.#madeOf.pullSecrets === pullSecrets) return this.#sets;
    this.#madeOf = shared;
    this.#askFor(pullSecrets);
    const now = this.#secrets.size === 0 ? sets : sets.map((set) => this.#withSecrets(set));
    if (!sameItems(now, this.#sets)) this.#sets = now;
    return this.#sets;
  }

  #askFor(pullSecrets: ReadonlyMap<string, string>): void {
    const all = this.#asked.has(WILDCARD);
    const secrets = new Map([...pullSecrets].filter(([name]) => all || this.#asked.has(name)));
    const [before, now] = [new Set(this.#secrets.values()), new Set(secrets.values())];
    this.#secrets = secrets;
    if (before.size + now.size === 0) return;
    this.#registries ??= this.#options.open(() => this.#changed());
    this.#registries.unwant(before.difference(now));
    this.#registries.want(now.difference(before));
  }

  #withSecrets(set: ResourceSet): ResourceSet {
    const made: EncodedResource[] = [];
    const undecided: string[] = [];
    for (const [name, secretName] of this.#secrets) {
      const config = set.get(name);
      const secret = this.#registries?.set.get(secretName);
      if (config !== undefined && secret !== undefined) made.push(this.#options.pulled.of(config, secret));
      else if (this.#isUndecided(name)) undecided.push(name);
    }
    return set.with(made, undecided);
  }

  #isUndecided(name: string): boolean {
    const secret = this.#secrets.get(name);
    return secret !== undefined && this.#registries?.isUndecided(secret) === true;
  }

  #changed(): void {
    this.#madeOf = undefined;
    this.#options.answered([...this.#secrets.keys()].filter((name) => !this.#isUndecided(name)));
  }

  /** The stream is over. */
  close(): void {
    this.#registries?.close();
  }
}
