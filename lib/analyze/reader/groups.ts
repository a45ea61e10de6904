/**
 * Groups of objects by names that several objects may share. With groups, a conflict is found without comparing every
 * pair of objects.
 *
 * A group has a name and a label. An object is in a group for each label of its selector; an object without a selector
 * is in the group without a label. If two selectors may choose the same workload by their text alone, the shorter
 * selector is a part of the longer selector, so the two share a label.
 *
 * @module
 */
import type { GatewaySpec, StringMap } from "../../config/kinds/kinds.ts";
import { gatewaySelectors } from "../../config/kinds/gateway/workloads.ts";
import type { ConfigObject, Kind } from "../../config/types.ts";

/** The shared names of an object, and its selectors. A selector chooses the workloads with all its labels. */
interface Membership {
  readonly names: readonly string[];
  /** Absent: objects of the sort select nothing. All objects of a name are then in the group without a label. */
  readonly selectors?: readonly StringMap[];
}

interface Grouping<K extends Kind> {
  readonly kind: K;
  readonly of: (object: ConfigObject<K>) => Membership;
}

function grouping<K extends Kind>(kind: K, of: (object: ConfigObject<K>) => Membership): Grouping<K> {
  return { kind, of };
}

const GROUPS = {
  /** Gateways by port and host of their servers, `443 shop.example.com`. */
  gatewayPlace: grouping("Gateway", (gateway) => ({
    names: gatewayPlaces(gateway.spec),
    selectors: gatewaySelectors(gateway),
  })),
  /** Gateways by the names of their servers' secrets. */
  gatewayCredential: grouping("Gateway", (gateway) => ({
    names: credentials(gateway.spec),
    selectors: gatewaySelectors(gateway),
  })),
  /** Service entries by host and port, `shop.example.com 443`. */
  entryPort: grouping("ServiceEntry", ({ spec: { hosts, ports = [] } }) => ({
    names: hosts.flatMap((host) => ports.map(({ number }) => `${host.toLowerCase()} ${number}`)),
  })),
  /** Workload entries by namespace. */
  workloadEntry: grouping("WorkloadEntry", ({ meta, spec }) => ({
    names: [meta.namespace],
    selectors: [{ ...meta.labels, ...spec.labels }],
  })),
  /** Telemetries by namespace, without Telemetries for a target object. */
  telemetry: grouping("Telemetry", ({ meta, spec: { selector, targetRef, targetRefs } }) => ({
    names: targetRef === undefined && targetRefs === undefined ? [meta.namespace] : [],
    selectors: [selector?.matchLabels ?? {}],
  })),
} as const;

/** Name of a sort of groups. */
export type GroupSort = keyof typeof GROUPS;

/** Kind of the objects in groups of a sort. */
export type GroupKind<S extends GroupSort> = (typeof GROUPS)[S]["kind"];

/** A host of a gateway's server without the namespace before the host. */
export function hostOfServer(written: string): string {
  return written.slice(written.indexOf("/") + 1).toLowerCase();
}

function gatewayPlaces({ servers }: GatewaySpec): string[] {
  return servers.flatMap(({ port, hosts }) => hosts.map((host) => `${port.number} ${hostOfServer(host)}`));
}

function credentials({ servers }: GatewaySpec): string[] {
  return servers.flatMap(({ tls }) => tls?.credentialName ? [tls.credentialName] : []);
}

/** The sorts of groups for objects of a kind. Most kinds have none. */
const SORTS_OF: ReadonlyMap<string, readonly GroupSort[]> = Map.groupBy(
  Object.keys(GROUPS) as GroupSort[],
  (sort) => GROUPS[sort].kind,
);

/** Key of a group: all members of a name, the members with a label, or the members without labels. */
const ALL = "*";
const NO_LABEL = "";

/** All groups of all objects. */
export class ObjectGroups {
  /** Members by group. A lone member is the usual case and needs no map. */
  readonly #members = new Map<string, ConfigObject | Map<string, ConfigObject>>();
  readonly #sorted = new Map<string, readonly ConfigObject[]>();
  readonly #keysOf = new Map<string, readonly string[]>();

  /**
   * Puts an object, or its new version.
   * @returns the groups with changed members
   */
  put(object: ConfigObject): Iterable<string> {
    const sorts = SORTS_OF.get(object.kind);
    if (sorts === undefined) return NO_GROUPS;
    const before = this.remove(object);
    const keys = groupKeys(object, sorts);
    if (keys.length > 0) this.#keysOf.set(object.key, keys);
    for (const key of keys) {
      const there = this.#members.get(key);
      if (there === undefined) this.#members.set(key, object);
      else if (there instanceof Map) there.set(object.key, object);
      else this.#members.set(key, new Map([[there.key, there], [object.key, object]]));
      this.#sorted.delete(key);
    }
    return [...before, ...keys];
  }

  /**
   * Removes an object.
   * @returns the groups with changed members
   */
  remove({ key: object }: { readonly key: string }): readonly string[] {
    const keys = this.#keysOf.get(object);
    if (keys === undefined) return NO_GROUPS;
    for (const key of keys) {
      const there = this.#members.get(key);
      if (!(there instanceof Map)) this.#members.delete(key);
      else if (there.delete(object) && there.size === 1) {
        for (const last of there.values()) this.#members.set(key, last);
      }
      this.#sorted.delete(key);
    }
    this.#keysOf.delete(object);
    return keys;
  }

  /** The members of a group, the oldest first. */
  members(key: string): readonly ConfigObject[] {
    const there = this.#members.get(key);
    if (!(there instanceof Map)) return there === undefined ? [] : [there];
    const known = this.#sorted.get(key);
    if (known) return known;
    const sorted = [...there.values()].sort((a, b) => isBefore(a, b) ? -1 : 1);
    this.#sorted.set(key, sorted);
    return sorted;
  }
}

const NO_GROUPS: readonly string[] = Object.freeze([]);

function groupKeys(object: ConfigObject, sorts: readonly GroupSort[]): readonly string[] {
  const found = new Set<string>();
  for (const sort of sorts) {
    // Each sort is for the object's kind. The compiler cannot follow this rule through the table.
    const { names, selectors } = (GROUPS[sort] as unknown as Grouping<Kind>).of(object);
    const labels = selectors === undefined ? [NO_LABEL] : [ALL, ...selectors.flatMap(labelsOf)];
    for (const name of names) {
      for (const label of labels) found.add(groupKey(sort, name, label));
    }
  }
  return [...found];
}

/**
 * The most labels of an object that count, by name. Real objects have fewer, and an object with thousands must not be
 * in thousands of groups.
 */
const MAX_LABELS = 50;

function labelsOf(labels: StringMap): string[] {
  const all = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return all.length === 0 ? [NO_LABEL] : all.sort().slice(0, MAX_LABELS);
}

function groupKey(sort: GroupSort, name: string, label: string): string {
  return `${sort} ${name} ${label}`;
}

/**
 * The groups with every object that may select a workload with all labels of at least one selector. The groups contain
 * other objects, too.
 */
export function groupsSharing(sort: GroupSort, name: string, selectors: readonly StringMap[]): string[] {
  const own = new Set(selectors.flatMap(labelsOf));
  const asked = own.has(NO_LABEL) ? [ALL] : [NO_LABEL, ...own];
  return asked.map((label) => groupKey(sort, name, label));
}

/** The group of objects without a selector. */
export function groupWithoutLabels(sort: GroupSort, name: string): string {
  return groupKey(sort, name, NO_LABEL);
}

/** Whether the first of two objects has precedence: by age, then by key. */
export function isBefore(a: ConfigObject, b: ConfigObject): boolean {
  const age = a.meta.creationTimestamp - b.meta.creationTimestamp;
  return age < 0 || (age === 0 && a.key < b.key);
}
