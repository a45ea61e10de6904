/**
 * The resources that a proxy would get after a change: new, changed or removed, compared as a server compares them.
 *
 * @module
 */
import { type Diff, DiffTable } from "../../resource/diff.ts";
import { contentHash, type EncodedResource } from "../../resource/encoded.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { ProxyState } from "../../translate/machine/per_proxy/proxy_state.ts";
import { CLUSTER, ENDPOINTS, EXTENSION_CONFIG, LISTENER, ROUTE, SECRET } from "../../xds/protocol/types.ts";

/** A new, changed or removed resource. */
export interface ResourceChange {
  readonly typeUrl: string;
  readonly name: string;
  /** Undefined: the resource is new. */
  readonly before: EncodedResource | undefined;
  /** Undefined: the resource is gone. */
  readonly after: EncodedResource | undefined;
}

/**
 * The sets of a proxy by type, and for virtual hosts by route configuration. Sets never change, so a snapshot is cheap.
 */
export type StateSnapshot = ReadonlyMap<string, readonly ResourceSet[]>;

const TYPES = [CLUSTER, ENDPOINTS, LISTENER, ROUTE, EXTENSION_CONFIG, SECRET] as const;

/** A snapshot of a proxy's resources. */
export function snapshot(state: ProxyState): StateSnapshot {
  const sets = new Map<string, readonly ResourceSet[]>(TYPES.map((type) => [type, state.resourceSets(type) ?? []]));
  if (!state.proxy.properties.vhds) return sets;
  for (const routes of sets.get(ROUTE) ?? []) {
    for (const { name } of routes) sets.set(`hosts ${name}`, state.virtualHosts(name));
  }
  return sets;
}

/** Changes shared by proxies as a whole. Two blocks with the same content are the same object. */
export interface ChangeBlock {
  /** In the order of discovery. */
  readonly id: number;
  readonly changes: readonly ResourceChange[];
  readonly names: ReadonlySet<string>;
}

/**
 * The differences between snapshots of many proxies. Proxies of a class hold the same sets, so a pair of sets is
 * compared once for all of them. Resources of a single proxy are in small sets of their own.
 */
export class StateDiffs {
  readonly #table = new DiffTable();
  readonly #pairs = new Map<ResourceSet | undefined, Map<ResourceSet | undefined, ChangeBlock>>();
  readonly #blocks = new Map<string, ChangeBlock>();
  readonly #overlaps = new Map<ChangeBlock, Map<ResourceSet, boolean>>();

  /** The blocks of a proxy. No block is empty. */
  between(before: StateSnapshot, after: StateSnapshot): ChangeBlock[] {
    return [...new Set([...before.keys(), ...after.keys()])].flatMap((kind) =>
      this.#ofKind(before.get(kind) ?? [], after.get(kind) ?? [])
    );
  }

  #ofKind(from: readonly ResourceSet[], to: readonly ResourceSet[]): ChangeBlock[] {
    const blocks: ChangeBlock[] = [];
    let overlap = false;
    for (let at = 0; at < Math.max(from.length, to.length); at++) {
      if (from[at] === to[at]) continue;
      const block = this.#pair(from[at], to[at]);
      if (block.changes.length === 0) continue;
      blocks.push(block);
      const others = [...from.toSpliced(at, 1), ...to.toSpliced(at, 1)];
      overlap ||= others.some((set) => this.#overlap(block, set));
    }
    if (!overlap) return blocks;
    // Another set holds a changed name, too. The resource that counts is found for each name.
    const names = new Set(blocks.flatMap(({ changes }) => changes.map(({ name }) => name)));
    const whole = this.#block([...names].flatMap((name) => changeOf(name, find(from, name), find(to, name))));
    return whole.changes.length === 0 ? [] : [whole];
  }

  #pair(old: ResourceSet | undefined, now: ResourceSet | undefined): ChangeBlock {
    let row = this.#pairs.get(old);
    if (row === undefined) this.#pairs.set(old, row = new Map());
    let block = row.get(now);
    if (block === undefined) row.set(now, block = this.#block([...this.#changes(old, now)]));
    return block;
  }

  *#changes(old: ResourceSet | undefined, now: ResourceSet | undefined): Iterable<ResourceChange> {
    const names = old !== undefined && now !== undefined
      ? namesOf(this.#table.between(old, now))
      : [...old ?? now ?? []].map(({ name }) => name);
    for (const name of names) yield* changeOf(name, old?.get(name), now?.get(name));
  }

  #block(changes: readonly ResourceChange[]): ChangeBlock {
    const content = contentHash(changes.map(changeId).sort().join("\n"));
    let block = this.#blocks.get(content);
    if (block !== undefined) return block;
    block = { id: this.#blocks.size, changes, names: new Set(changes.map(({ name }) => name)) };
    this.#blocks.set(content, block);
    return block;
  }

  #overlap(block: ChangeBlock, set: ResourceSet): boolean {
    let row = this.#overlaps.get(block);
    if (row === undefined) this.#overlaps.set(block, row = new Map());
    let overlap = row.get(set);
    if (overlap === undefined) row.set(set, overlap = overlaps(block, set));
    return overlap;
  }
}

/** A proxy's own resources are few, and the changed names may be few. The smaller side is looked up in the other. */
function overlaps({ names }: ChangeBlock, set: ResourceSet): boolean {
  if (names.size <= set.size) return names.values().some((name) => set.has(name));
  return [...set].some(({ name }) => names.has(name));
}

function namesOf({ changed, removed }: Diff): string[] {
  return [...changed.map(({ name }) => name), ...removed];
}

function changeOf(name: string, before: EncodedResource | undefined, after: EncodedResource | undefined) {
  const one = after ?? before;
  return one === undefined || before?.version === after?.version ? [] : [{ typeUrl: one.typeUrl, name, before, after }];
}

/** Equal for equal changes. */
export function changeId({ typeUrl, name, before, after }: ResourceChange): string {
  return [typeUrl, name, before?.version ?? "", after?.version ?? ""].join(" ");
}

/** If two sets hold a name, the later set counts, as on the wire. */
function find(sets: readonly ResourceSet[], name: string): EncodedResource | undefined {
  return sets.map((set) => set.get(name)).findLast((one) => one !== undefined);
}

/** Bytes of a change on the wire, before compression. */
export function bytesOf({ after, name }: ResourceChange): number {
  // A removed name is a field of its own on the wire: tag, length and name.
  return after === undefined ? name.length + 2 : after.size;
}
