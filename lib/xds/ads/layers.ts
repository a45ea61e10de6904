/**
 * Layered resource sets, as a stream sees them, and what differs between two such stacks.
 *
 * @module
 */
import type { Block, Form } from "../../resource/block.ts";
import { type Diff, setBlocks } from "../../resource/diff.ts";
import { contentHash, type EncodedResource } from "../../resource/encoded.ts";
import type { NameSet } from "../../resource/names.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { VersionTable } from "../../resource/version_table.ts";
import type { KnownVersions } from "./request.ts";

/** One set of a stack. Layers of two stacks are compared by key. */
export interface Layer {
  readonly key: string;
  readonly set: ResourceSet;
}

/** A stack of sets with disjoint names. Compared by identity: equal stacks are the same array. */
export type Layers = readonly Layer[];

/** The stack without layers. */
export const NO_LAYERS: Layers = [];

/** A stack of sets, keyed by position; a name in two sets stays only in the last of them. */
export function stack(sets: readonly ResourceSet[], prefix = ""): Layer[] {
  return sets.map((set, i) => {
    for (const later of sets.slice(i + 1)) set = withoutNamesOf(set, later);
    return { key: prefix + i, set };
  });
}

function withoutNamesOf(set: ResourceSet, later: ResourceSet): ResourceSet {
  const [small, large] = set.size < later.size ? [set, later] : [later, set];
  const twice: string[] = [];
  for (const resource of small) if (large.has(resource.name)) twice.push(resource.name);
  return twice.length === 0 ? set : set.with([], twice);
}

/** Whether two stacks hold the same sets under the same keys. */
export function sameLayers(a: Layers, b: Layers): boolean {
  return a.length === b.length && a.every((layer, i) => layer.set === b[i]!.set && layer.key === b[i]!.key);
}

/** Applies a function to each set; returns the same stack when no set changes. */
export function mapLayers(layers: Layers, map: (set: ResourceSet) => ResourceSet): Layers {
  const mapped = layers.map((layer) => {
    const set = map(layer.set);
    return set === layer.set ? layer : { key: layer.key, set };
  });
  return mapped.every((layer, i) => layer === layers[i]) ? layers : mapped;
}

/** The resources of the stack that `names` selects. */
export function selectLayers(layers: Layers, names: NameSet): Layers {
  return mapLayers(layers, (set) => names.select(set));
}

/** The stack without the resources that `names` selects. */
export function excludeFromLayers(layers: Layers, names: NameSet): Layers {
  return names.size === 0 ? layers : mapLayers(layers, (set) => names.exclude(set));
}

/** The resource of that name. */
export function findInLayers(layers: Layers, name: string): EncodedResource | undefined {
  for (const layer of layers) {
    const found = layer.set.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Hash of the content: of any number of layers it is as long as that of one. */
export function layersDigest(layers: Layers): string {
  if (layers.length === 1) return layers[0]!.set.digest;
  return contentHash(layers.map((layer) => layer.set.digest).join());
}

/** Number of resources. */
export function countLayers(layers: Layers): number {
  return layers.reduce((sum, layer) => sum + layer.set.size, 0);
}

/** What a client that comes back has already. */
export interface Known {
  /** The resources that it has in the very version that it should have. */
  readonly layers: Layers;
  /** Names that it has and should not have. */
  readonly absent: readonly string[];
}

/** Compares what a client should have with what it says that it has. */
export function knownOf(want: Layers, versions: KnownVersions): Known {
  const sides = want.map(({ set }) => ({ set, seen: new Uint8Array(set.size), matched: 0 }));
  const absent: string[] = [];
  const found = (find: (table: VersionTable) => number): boolean => {
    for (const side of sides) {
      const at = find(side.set.versions);
      if (at < 0) continue;
      side.matched += 1 - side.seen[at]!;
      side.seen[at] = 1;
      return true;
    }
    return false;
  };
  versions.each((from, to) => {
    if (found((table) => table.find(versions.run, from, to))) return;
    const { name, version } = versions.entry(from, to);
    if (found((table) => table.findText(name, version))) return;
    if (!sides.some(({ set }) => set.has(name))) absent.push(name);
  });
  const layers = want.map((layer, i) => {
    const { set, seen, matched } = sides[i]!;
    if (matched === set.size) return layer;
    return { key: layer.key, set: set.table.from(set.list.filter((_, at) => seen[at] === 1)) };
  });
  return { layers: layers.every((layer, i) => layer === want[i]) ? want : layers, absent };
}

/** One step from what a client has towards what it should have. */
export interface Step {
  readonly blocks: readonly Block[];
  /** Resources in the blocks, as lists of the diffs that they come from. */
  readonly changed: readonly (readonly EncodedResource[])[];
  readonly count: number;
  readonly removed: readonly string[];
  /** The diffs of the single layers. */
  readonly diffs: readonly Diff[];
  /** What the client has afterwards. */
  readonly next: Layers;
}

/**
 * What turns a client that has `sent` into one that has `want`, up to about `maxBytes`; when that is not all, `next` is
 * not `want`.
 */
export function stepTowards(from: Layers, want: Layers, form: Form, maxBytes: number): Step {
  const sent = relocated(from, want);
  const blocks: Block[] = [];
  const changed: (readonly EncodedResource[])[] = [];
  const diffs: Diff[] = [];
  const removed: string[] = [];
  const next: Layer[] = [];
  let room = maxBytes;
  let complete = true;
  for (const layer of want) {
    const before = sent.find((other) => other.key === layer.key)?.set ?? layer.set.table.empty;
    if (before === layer.set) {
      next.push(layer);
      continue;
    }
    const part = before.diffTo(layer.set).upTo(room, before, layer.set, form);
    room -= part.bytes;
    blocks.push(...part.diff.blocks(form));
    if (part.diff.changed.length > 0) changed.push(part.diff.changed);
    diffs.push(part.diff);
    for (const name of part.diff.removed) removed.push(name);
    complete &&= part.next === layer.set;
    next.push(part.next === layer.set ? layer : { key: layer.key, set: part.next });
  }
  for (const layer of sent) {
    if (want.some((other) => other.key === layer.key)) continue;
    for (const resource of layer.set) removed.push(resource.name);
  }
  return {
    blocks,
    changed,
    count: changed.reduce((sum, list) => sum + list.length, 0),
    // A resource that moved to another layer is not gone.
    removed: removed.filter((name) => findInLayers(want, name) === undefined),
    diffs,
    next: complete ? want : next,
  };
}

/**
 * `sent` with the resources that `want` holds in another layer moved there: a resource that only changes its layer is
 * neither gone nor new.
 */
function relocated(sent: Layers, want: Layers): Layers {
  const moved = new Map<string, EncodedResource[]>();
  for (const layer of sent) {
    const same = want.find((other) => other.key === layer.key)?.set;
    const leaving = same === undefined
      ? [...layer.set]
      : same === layer.set || want.length === 1
      ? []
      : layer.set.diffTo(same).removed.map((name) => layer.set.get(name)!);
    for (const resource of leaving) {
      const home = want.find((other) => other.key !== layer.key && other.set.has(resource.name));
      if (home === undefined) continue;
      const list = moved.get(home.key);
      if (list === undefined) moved.set(home.key, [resource]);
      else list.push(resource);
    }
  }
  if (moved.size === 0) return sent;
  return want.map(({ key, set }) => {
    const before = sent.find((layer) => layer.key === key)?.set ?? set.table.empty;
    return { key, set: before.with(moved.get(key) ?? []) };
  }).concat(sent.filter((layer) => !want.some((other) => other.key === layer.key)));
}

/** All byte runs of a stack. */
export function layerBlocks(layers: Layers, form: Form): Block[] {
  return layers.flatMap((layer) => setBlocks(layer.set, form));
}
