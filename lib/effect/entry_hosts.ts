/**
 * The ServiceEntries of each host, for questions about entries that keep other entries away from their host.
 *
 * @module
 */
import type { ConfigObject } from "../config/types.ts";
import { fullHost } from "../mesh/names.ts";
import { SmallMultimap } from "../registry/small_multimap.ts";

/** The hosts of all entries, kept up to date entry by entry. */
export class EntryHosts {
  /** Keys of entries by `namespace/host`. */
  readonly #by = new SmallMultimap<string, string>();
  readonly #hosts = new Map<string, readonly string[]>();

  /**
   * Puts an entry in place of its earlier version.
   *
   * @param entry Undefined: the entry is gone.
   */
  put(key: string, entry: ConfigObject<"ServiceEntry"> | undefined, domainSuffix: string): void {
    for (const host of this.#hosts.get(key) ?? []) this.#by.delete(host, key);
    this.#hosts.delete(key);
    if (entry === undefined) return;
    const { meta: { namespace }, spec: { hosts } } = entry;
    const names = [...new Set(hosts.map((host) => hostKey(namespace, host, domainSuffix)))];
    for (const name of names) this.#by.add(name, key);
    this.#hosts.set(key, names);
  }

  /** Keys of the other entries of an entry's namespace that have a host of the entry. */
  beside(key: string): ReadonlySet<string> {
    const keys = new Set((this.#hosts.get(key) ?? []).flatMap((host) => [...this.#by.get(host)]));
    keys.delete(key);
    return keys;
  }
}

function hostKey(namespace: string, host: string, domainSuffix: string): string {
  return `${namespace}/${fullHost(host, namespace, domainSuffix).toLowerCase()}`;
}
