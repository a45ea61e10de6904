/**
 * What one proxy would be sent after a change: resources that are new, others or gone, as a server compares them.
 *
 * @module
 */
import { type DiffTable } from "../../resource/diff.ts";
import type { EncodedResource } from "../../resource/encoded.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { ProxyState } from "../../translate/per_proxy/proxy_state.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, SECRET } from "../../xds/protocol/types.ts";

/** One resource that differs. */
export interface ResourceChange {
  readonly typeUrl: string;
  readonly name: string;
  /** Undefined: it is new. */
  readonly before: EncodedResource | undefined;
  /** Undefined: it is gone. */
  readonly after: EncodedResource | undefined;
}

/** The sets of one proxy, by type and, for virtual hosts, by route configuration. Sets never change, so this is cheap. */
export type StateSnapshot = ReadonlyMap<string, readonly ResourceSet[]>;

const TYPES = [CLUSTER, ENDPOINTS, LISTENER, ROUTE, SECRET] as const;

/** What a proxy has now. */
export function snapshot(state: ProxyState): StateSnapshot {
  const sets = new Map<string, readonly ResourceSet[]>(TYPES.map((type) => [type, state.resourceSets(type) ?? []]));
  if (!state.proxy.properties.vhds) return sets;
  for (const routes of sets.get(ROUTE) ?? []) {
    for (const { name } of routes) sets.set(`hosts ${name}`, state.virtualHosts(name));
  }
  return sets;
}

/** What differs. Sets that are the same object cost nothing; a pair of sets is compared once for all proxies. */
export function changesBetween(before: StateSnapshot, after: StateSnapshot, table: DiffTable): ResourceChange[] {
  const found: ResourceChange[] = [];
  for (const kind of new Set([...before.keys(), ...after.keys()])) {
    const [from, to] = [before.get(kind) ?? [], after.get(kind) ?? []];
    const names = new Set<string>();
    for (let at = 0; at < Math.max(from.length, to.length); at++) {
      const [old, now] = [from[at], to[at]];
      if (old === now) continue;
      if (old !== undefined && now !== undefined) {
        const { changed, removed } = table.between(old, now);
        for (const name of [...changed.map((one) => one.name), ...removed]) names.add(name);
      } else for (const { name } of old ?? now ?? []) names.add(name);
    }
    for (const name of names) {
      const [old, now] = [find(from, name), find(to, name)];
      const one = now ?? old;
      if (one !== undefined && old?.version !== now?.version) {
        found.push({ typeUrl: one.typeUrl, name, before: old, after: now });
      }
    }
  }
  return found;
}

/** Where two sets hold a name, the later one counts, as on the wire. */
function find(sets: readonly ResourceSet[], name: string): EncodedResource | undefined {
  return sets.map((set) => set.get(name)).findLast((one) => one !== undefined);
}

/** Bytes of a change on the wire, before compression. */
export function bytesOf({ after, name }: ResourceChange): number {
  // A name that is gone is a field of its own: its tag, its length, the name.
  return after === undefined ? name.length + 2 : after.delta.length;
}
