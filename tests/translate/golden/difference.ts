/**
 * The difference between two trees: added and changed parts, and names of removed parts.
 *
 * - Of an object, only differing fields are shown. `gone` lists removed fields.
 * - Of a list with named elements, only differing elements are shown. If elements were added, removed or moved, the
 *   list is complete: `= NAME` stands for an unchanged element, `gone: NAME` for a removed element.
 * - Of other lists of equal length, `=` stands for an unchanged element.
 * - A new element that resembles another is shown as the difference: `like: NAME` refers to the old list, and `like:
 *   above` to the previous element.
 *
 * @module
 */
import { isDeepStrictEqual } from "node:util";

/** A value of JSON. */
export type Tree = unknown;
type Fields = Readonly<Record<string, Tree>>;

/** The largest share of a text that may differ between similar trees. */
const ALIKE = 0.6;

/** Length of a change, in characters, from which the change is shown as a difference from another. */
const LONG = 300;

/** The parts of `now` that differ from `before`. Undefined: none. */
export function difference(before: Tree, now: Tree): Tree {
  if (isDeepStrictEqual(before, now)) return undefined;
  if (isFields(before) && isFields(now) && before["@type"] === now["@type"]) return ofFields(before, now);
  if (Array.isArray(before) && Array.isArray(now)) return ofLists(before, now);
  return compact(now);
}

/** A tree in which a list element that resembles the previous element is shown as a difference. */
export function compact(tree: Tree): Tree {
  if (Array.isArray(tree)) return tree.map((element, at) => added(element, [], at > 0 ? [tree[at - 1]] : []));
  if (!isFields(tree)) return tree;
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, compact(value)]));
}

/** The difference of a tree from a similar tree. Undefined for dissimilar trees. */
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

/** A new element of a list. */
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

/** The names of a list's elements. Undefined without names. A repeated name is numbered. */
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
