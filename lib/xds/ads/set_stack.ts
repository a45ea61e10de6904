/**
 * Stacks of resource sets, as a stream sees one type: typically a set that many proxies share and one of its own. Of
 * virtual hosts there is a group of sets for each route configuration.
 *
 * @module
 */
import type { Block, Form } from "../../resource/block.ts";
import { setBlocks } from "../../resource/diff.ts";
import { contentHash, type EncodedResource } from "../../resource/encoded.ts";
import type { NameSet } from "../../resource/name_set.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { VersionTable } from "../../resource/version_table.ts";
import type { KnownVersions } from "./request.ts";

/** One set of a stack. Sets of two stacks are compared that have the same group and key. */
export interface StackedSet {
  /** Sets of different groups never hold the same name. */
  readonly group: string;
  /** Unique in its group. */
  readonly key: string;
  readonly set: ResourceSet;
}

/** Sets with disjoint names, those of a group side by side. Compared by identity: equal stacks are the same array. */
export type SetStack = readonly StackedSet[];

/** The stack without sets. */
export const EMPTY_STACK: SetStack = [];

/** A stack of one group, keyed by position; a name in two sets stays only in the last of them. */
export function stackSets(sets: readonly ResourceSet[], group = ""): StackedSet[] {
  return sets.map((set, i) => {
    for (const later of sets.slice(i + 1)) set = withoutNamesOf(set, later);
    return { group, key: String(i), set };
  });
}

function withoutNamesOf(set: ResourceSet, later: ResourceSet): ResourceSet {
  const [small, large] = set.size < later.size ? [set, later] : [later, set];
  const twice: string[] = [];
  for (const resource of small) if (large.has(resource.name)) twice.push(resource.name);
  return twice.length === 0 ? set : set.with([], twice);
}

/** Whether two stacks hold the same sets in the same places. */
export function sameStack(a: SetStack, b: SetStack): boolean {
  if (a === b) return true;
  const same = (one: StackedSet, other: StackedSet) =>
    one === other || (one.set === other.set && one.key === other.key && one.group === other.group);
  return a.length === b.length && a.every((one, i) => same(one, b[i]!));
}

/** Applies a function to each set; returns the same stack when no set changes. */
export function mapStack(stack: SetStack, map: (set: ResourceSet) => ResourceSet): SetStack {
  const mapped = stack.map((one) => {
    const set = map(one.set);
    return set === one.set ? one : { ...one, set };
  });
  return mapped.every((one, i) => one === stack[i]) ? stack : mapped;
}

/** The resources of the stack that `names` selects. */
export function selectStack(stack: SetStack, names: NameSet): SetStack {
  return mapStack(stack, (set) => names.select(set));
}

/** The same, near the selection of a set of names that differs only in `changed`; see {@linkcode NameSet.selectNear}. */
export function selectStackNear(stack: SetStack, names: NameSet, near: NameSet, changed: Iterable<string>): SetStack {
  return mapStack(stack, (set) => names.selectNear(set, near, changed));
}

/** The stack without the resources that `names` selects. */
export function excludeFromStack(stack: SetStack, names: NameSet): SetStack {
  return names.size === 0 ? stack : mapStack(stack, (set) => names.exclude(set));
}

/** The resource of that name. */
export function findInStack(stack: SetStack, name: string): EncodedResource | undefined {
  for (const { set } of stack) {
    const found = set.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a resource has that name or alias. */
export function isNamedInStack(stack: SetStack, name: string): boolean {
  return stack.some(({ set }) => set.has(name) || set.withAlias(name).length > 0);
}

/** Hash of the content: of any number of sets it is as long as that of one. */
export function stackDigest(stack: SetStack): string {
  if (stack.length === 1) return stack[0]!.set.digest;
  return contentHash(stack.map(({ set }) => set.digest).join());
}

/** The last hashes of stacks. One table for a server: of streams that have the same sets one computes it. */
export class StackDigests {
  /** The last stack that begins with a set. */
  readonly #known = new WeakMap<ResourceSet, { readonly stack: SetStack; readonly digest: string }>();

  /** As {@linkcode stackDigest}. */
  of(stack: SetStack): string {
    const first = stack[0]?.set;
    if (first === undefined || stack.length === 1) return stackDigest(stack);
    const known = this.#known.get(first);
    if (known?.stack.length === stack.length && known.stack.every(({ set }, i) => set === stack[i]!.set)) {
      return known.digest;
    }
    const digest = stackDigest(stack);
    this.#known.set(first, { stack, digest });
    return digest;
  }
}

/** Number of resources. */
export function stackSize(stack: SetStack): number {
  return stack.reduce((sum, { set }) => sum + set.size, 0);
}

/** All byte runs of a stack. */
export function stackBlocks(stack: SetStack, form: Form): Block[] {
  return stack.flatMap(({ set }) => setBlocks(set, form));
}

/** The resources that a client that reconnects has already. */
export interface ClientState {
  /** The resources that it has in the very version that it should have. */
  readonly stack: SetStack;
  /** Names that it has and should not have. */
  readonly absent: readonly string[];
}

/** Compares the resources that a client should have with those that it reports. */
export function clientState(want: SetStack, versions: KnownVersions): ClientState {
  const sides = want.map(({ set }) => ({ set, seen: new Uint8Array(set.size), matched: 0 }));
  const absent: string[] = [];
  // A client reports in the order in which it was sent to, so the set that held the last one holds the next as a rule.
  let last = 0;
  const found = (find: (table: VersionTable) => number): boolean => {
    for (let tried = 0; tried < sides.length; tried++) {
      const side = sides[last]!;
      const at = find(side.set.versions);
      if (at >= 0) {
        side.matched += 1 - side.seen[at]!;
        side.seen[at] = 1;
        return true;
      }
      last = (last + 1) % sides.length;
    }
    return false;
  };
  versions.each((from, to) => {
    if (found((table) => table.find(versions.view, from, to))) return;
    const { name, version } = versions.entry(from, to);
    if (found((table) => table.findText(name, version))) return;
    if (!sides.some(({ set }) => set.has(name))) absent.push(name);
  });
  const stack = want.map((one, i) => {
    const { set, seen, matched } = sides[i]!;
    if (matched === set.size) return one;
    return { ...one, set: set.table.from(set.list.filter((_, at) => seen[at] === 1)) };
  });
  return { stack: stack.every((one, i) => one === want[i]) ? want : stack, absent };
}
