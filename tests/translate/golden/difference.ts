/**
 * What one tree has beside another: the parts that were added or changed, and the names of those that are gone.
 *
 * - Of an object the fields that differ are left; `gone` lists fields that it has no more.
 * - Of a list whose elements have names the elements that differ are left. Where elements came, went or moved, the list
 *   is whole: `= NAME` stands for an element that is as it was, `gone: NAME` for one that it has no more.
 * - Of other lists of as many objects `=` stands for an element that is as it was.
 * - An element that is new, and much like another, is said by what it has beside that: `like: NAME` is one of the old
 *   list, and `like: above` the element before it.
 *
 * @module
 */
import { isDeepStrictEqual } from "node:util";

/** A value of JSON. */
export type Tree = unknown;
type Fields = Readonly<Record<string, Tree>>;

/** The part of a text that may differ in one that is like another. */
const ALIKE = 0.6;

/** Characters of a change that is said by what it has beside another. */
const LONG = 300;

/** The parts of `now` that differ from `before`; undefined: none. */
export function difference(before: Tree, now: Tree): Tree {
  if (isDeepStrictEqual(before, now)) return undefined;
  if (isFields(before) && isFields(now) && before["@type"] === now["@type"]) return ofFields(before, now);
  if (Array.isArray(before) && Array.isArray(now)) return ofLists(before, now);
  return compact(now);
}

/** A tree whose lists say elements that are much like the one before by what they have beside it. */
export function compact(tree: Tree): Tree {
  if (Array.isArray(tree)) return tree.map((element, at) => added(element, [], at > 0 ? [tree[at - 1]] : []));
  if (!isFields(tree)) return tree;
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, compact(value)]));
}

/** What a tree has beside one that it is much like; undefined: it is not like it. */
export function likeness(other: Tree, now: Tree): Fields | undefined {
  if (!isFields(other) || !isFields(now)) return undefined;
  const own = difference(other, now) ?? {};
  return isFields(own) && sizeOf(own) < ALIKE * sizeOf(compact(now)) ? own : undefined;
}

/** The length of a tree as text. */
export function sizeOf(tree: Tree): number {
  return JSON.stringify(tree).length;
}

function ofFields(before: Fields, now: Fields): Tree {
  const changed = Object.entries(now).flatMap(([key, value]) => {
    const own = key in before ? difference(before[key], value) : compact(value);
    return own === undefined ? [] : [[key, own] as const];
  });
  const gone = Object.keys(before).filter((key) => !(key in now));
  return { ...Object.fromEntries(changed), ...(gone.length > 0 ? { gone } : {}) };
}

function ofLists(before: readonly Tree[], now: readonly Tree[]): Tree {
  const [old, names] = [namesOf(before), namesOf(now)];
  if (old === undefined || names === undefined) return ofNameless(before, now);
  const known = new Map(old.map((name, at) => [name, before[at]]));
  const moved = !isDeepStrictEqual(old, names);
  const seen: { readonly name: string; readonly own: Tree }[] = [];
  const shown = now.flatMap((element, at) => {
    const name = names[at]!;
    if (!known.has(name)) return [added(element, before, now.slice(at - 1, at))];
    const own = difference(known.get(name), element);
    if (own === undefined) return moved ? [`= ${name}`] : [];
    const same = seen.find((other) => isDeepStrictEqual(other.own, own));
    if (same !== undefined) return [{ name, "changed as": same.name }];
    const like = seen.flatMap((other) => {
      const beside = sizeOf(own) < LONG ? undefined : likeness(other.own, own);
      return beside === undefined ? [] : [{ name, "changed as": other.name, ...beside }];
    });
    if (like.length > 0) return [like.reduce((a, b) => sizeOf(b) < sizeOf(a) ? b : a)];
    seen.push({ name, own });
    return [isFields(own) ? { name, ...own } : own];
  });
  return [...shown, ...old.filter((name) => !names.includes(name)).map((name) => `gone: ${name}`)];
}

function ofNameless(before: readonly Tree[], now: readonly Tree[]): Tree {
  const alike = before.length === now.length && [...before, ...now].every(isFields);
  if (alike) return now.map((element, at) => difference(before[at], element) ?? "=");
  return now.map((element, at) => added(element, before, at > 0 ? [now[at - 1]] : []));
}

/** An element that a list did not have. */
function added(element: Tree, before: readonly Tree[], above: readonly Tree[]): Tree {
  const others = [
    ...above.map((other) => ({ other, like: "above" })),
    ...before.map((other, at) => ({ other, like: (isFields(other) ? nameOf(other) : undefined) ?? at })),
  ];
  const found = others.flatMap(({ other, like }) => {
    const own = likeness(other, element);
    return own === undefined ? [] : [{ like, ...own }];
  });
  return found.length > 0 ? found.reduce((a, b) => sizeOf(b) < sizeOf(a) ? b : a) : compact(element);
}

/** The names of a list's elements; undefined: they have none. A name that comes again is numbered. */
function namesOf(list: readonly Tree[]): string[] | undefined {
  const times = new Map<string, number>();
  const names: string[] = [];
  for (const element of list) {
    const name = isFields(element) ? nameOf(element) : undefined;
    if (name === undefined) return undefined;
    const time = (times.get(name) ?? 0) + 1;
    times.set(name, time);
    names.push(time === 1 ? name : `${name} (${time})`);
  }
  return names;
}

function nameOf(element: Fields): string | undefined {
  if (typeof element.name === "string") return element.name;
  if (typeof element.upgrade_type === "string") return element.upgrade_type;
  if (Array.isArray(element.lb_endpoints)) return Object.values(element.locality ?? {}).join("/") || "no locality";
  const { address } = isFields(element.endpoint) ? element.endpoint : {};
  if (!isFields(address)) return undefined;
  const socket = isFields(address.socket_address) ? address.socket_address : undefined;
  return socket ? String(socket.address) : JSON.stringify(address);
}

function isFields(value: Tree): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
