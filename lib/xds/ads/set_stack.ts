/**
 * Stacks of resource sets: a stream's view of one type. A typical stack has a set shared by many proxies, and a set of
 * a single proxy. A stack of virtual hosts has a group of sets for each route configuration.
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

/** One set of a stack. Two stacks are compared set by set, by equal group and key. */
export interface StackedSet {
  /** Sets of different groups never hold the same name. */
  readonly group: string;
  /** Unique in the group. */
  readonly key: string;
  readonly set: ResourceSet;
}

/**
 * Sets with disjoint names. Sets of a group stand side by side. Compared by identity: equal stacks are the same array.
 */
export type SetStack = readonly StackedSet[];

/** The stack without sets. */
export const EMPTY_STACK: SetStack = [];

/** A stack of one group, keyed by position. A name in two sets stays only in the last set. */
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

/** The resources of the stack selected by `names`. */
export function selectStack(stack: SetStack, names: NameSet): SetStack {
  return mapStack(stack, (set) => names.select(set));
}

/** The same, for a set of names that differs from `near` only in `changed`; see {@linkcode NameSet.selectNear}. */
export function selectStackNear(stack: SetStack, names: NameSet, near: NameSet, changed: Iterable<string>): SetStack {
  return mapStack(stack, (set) => names.selectNear(set, near, changed));
}

/** The stack without the resources selected by `names`. */
export function excludeFromStack(stack: SetStack, names: NameSet): SetStack {
  return names.size === 0 ? stack : mapStack(stack, (set) => names.exclude(set));
}

/** The resource with a name. */
export function findInStack(stack: SetStack, name: string): EncodedResource | undefined {
  for (const { set } of stack) {
    const found = set.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a resource has the name or alias. */
export function isNamedInStack(stack: SetStack, name: string): boolean {
  return stack.some(({ set }) => set.has(name) || set.withAlias(name).length > 0);
}

/** Hash of the content. Its length does not depend on the number of sets. */
export function stackDigest(stack: SetStack): string {
  if (stack.length === 1) return stack[0]!.set.digest;
  return contentHash(stack.map(({ set }) => set.digest).join());
}

/**
 * The last hashes of stacks, shared by the streams of a server: among streams with the same sets only the first
 * computes the hash.
 */
export class StackDigests {
  /** The last stack for each first set. */
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

/** The resources that a client already has at a reconnect. */
export interface ClientState {
  /** Resources of the client in exactly the wanted version. */
  readonly stack: SetStack;
  /** Names of resources that the client should no longer have. */
  readonly absent: readonly string[];
  /** Names of resources of which the client has another version. */
  readonly older: ReadonlySet<string>;
}

/** Sets that are tried in order for a reported resource. Later sets are found by the resource's name. */
const TRIED = 4;

/** Compares the wanted resources with the client's report. */
export function clientState(want: SetStack, versions: KnownVersions): ClientState {
  const sides = want.map(({ set }) => new ReportedSet(set));
  const placeOf = placesIn(want);
  const absent: string[] = [];
  const older = new Set<string>();
  // A client reports resources in the order of sending, so that the next resource is usually in the set of the last
  // one.
  let last = 0;
  versions.each((from, content, to) => {
    for (let tried = 0; tried < sides.length && tried < TRIED; tried++) {
      const at = (last + tried) % sides.length;
      if (!sides[at]!.add((table) => table.find(versions.view, from, to))) continue;
      last = at;
      return sides[at]!.addRuns(versions.run, to);
    }
    const { name, version } = versions.entry(content, to);
    const at = placeOf(name);
    if (at < 0) absent.push(name);
    else if (sides[at]!.add((table) => table.findText(name, version))) last = at;
    else older.add(name);
    return to;
  });
  const stack = want.map((one, i) => {
    const set = sides[i]!.reported;
    return set === one.set ? one : { ...one, set };
  });
  return { stack: stack.every((one, i) => one === want[i]) ? want : stack, absent, older };
}

/**
 * The place of a resource's set in the stack, by the resource's name; below 0: nowhere. A stack of virtual hosts has a
 * set for each route configuration, and a client may report a hundred thousand names. So all names are listed at the
 * first question.
 */
function placesIn(stack: SetStack): (name: string) => number {
  if (stack.length <= TRIED) return (name) => stack.findIndex(({ set }) => set.has(name));
  let places: ReadonlyMap<string, number> | undefined;
  return (name) => {
    places ??= new Map(stack.flatMap(({ set }, at) => [...set].map((resource) => [resource.name, at] as const)));
    return places.get(name) ?? -1;
  };
}

/** A set, with marks on the resources that the client reported in the set's version. */
class ReportedSet {
  readonly #seen: Uint8Array;
  #count = 0;
  /** The place after the last reported resource. */
  #next = 0;
  /**
   * Whether the last two resources were reported in the order of the set. An Envoy may report in any order, and each
   * try costs time.
   */
  #inOrder = false;

  constructor(readonly set: ResourceSet) {
    this.#seen = new Uint8Array(set.size);
  }

  /** Notes the resource at the place returned by `find`; false: `find` found none. */
  add(find: (table: VersionTable) => number): boolean {
    const at = find(this.set.versions);
    if (at < 0) return false;
    this.#inOrder = at === this.#next;
    this.#note(at, at + 1);
    return true;
  }

  /**
   * Notes the following resources as long as the report has the same order, many at once. Returns the end of the read
   * part.
   */
  addRuns(report: Uint8Array, from: number): number {
    const { versions, size } = this.set;
    while (this.#inOrder && this.#next < size) {
      const to = versions.endOfRun(this.#next, report, from);
      if (to < 0) break;
      this.#note(this.#next, versions.runEnd(this.#next));
      from = to;
    }
    return from;
  }

  #note(from: number, to: number): void {
    for (let at = from; at < to; at++) {
      this.#count += 1 - this.#seen[at]!;
      this.#seen[at] = 1;
    }
    this.#next = to;
  }

  /** The set of the reported resources; the same object if all are reported. */
  get reported(): ResourceSet {
    const { set } = this;
    if (this.#count === set.size) return set;
    return set.table.from(set.list.filter((_, at) => this.#seen[at] === 1));
  }
}
