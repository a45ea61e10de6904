/**
 * The keys that a change of hosts makes stale, wherever reads are recorded.
 *
 * @module
 */
import { isWildcard, wildcardsOver } from "./host_match.ts";

/** Takes stale keys: by kind and name, or by kind and a test of names. */
export interface HostKeySink {
  add(kind: string, name: string): void;
  addPattern(kind: string, accepts: (name: string) => boolean): void;
}

/**
 * Adds the keys of hosts. A host stands for the wildcards over it too, which may be asked about instead, and a wildcard
 * for every host under it.
 */
export function addHostKeys(keys: HostKeySink, kind: string, hosts: Iterable<string>): void {
  for (const host of hosts) {
    keys.add(kind, host);
    for (const pattern of wildcardsOver(host)) keys.add(kind, pattern);
    if (!isWildcard(host)) continue;
    const suffix = host.slice(1);
    keys.addPattern(kind, (name) => name.endsWith(suffix));
  }
}
