/**
 * Whether a server-side apply would change an object in the API: not if all desired fields have their values and the
 * manager owns no other field. So equal objects are not applied again, not even by a server that has just started.
 *
 * Field sets: https://kubernetes.io/docs/reference/using-api/server-side-apply/
 *
 * @module
 */
import { isTree, type JsonTree } from "../../injection/merge.ts";
import { bytesOf } from "../../injection/sidecar/image.ts";
import type { DeployedObject } from "./types.ts";

/** Maps of quantities, which an API server writes in its own form: `2000m` becomes `2`. */
const QUANTITIES: ReadonlySet<string> = new Set(["limits", "requests"]);

/** Fields that tell apart the items of a list. */
const ITEM_KEYS: readonly (readonly string[])[] = [
  ...[["containerPort", "protocol"], ["port", "protocol"], ["mountPath"], ["devicePath"], ["name"], ["uid"]],
  ...[["ip"], ["topologyKey", "whenUnsatisfiable"], ["type"]],
];

/** Values of key fields that an API server adds. */
const KEY_DEFAULTS: Readonly<Record<string, unknown>> = { protocol: "TCP" };

/** Whether an apply of the manager would change nothing. */
export function isSettled(desired: DeployedObject, live: JsonTree, manager: string): boolean {
  const owned = ownedFields(live, manager);
  if (owned === undefined) return false;
  const { metadata: { name: _, namespace: __, ...metadata }, ...rest } = desired;
  const wanted = { ...rest, metadata };
  return holds(wanted, live) && hasAll(owned, wanted);
}

/** Whether an apply of a Deployment would change its pods. */
export function changesPods(desired: DeployedObject, live: JsonTree, manager: string): boolean {
  const [wanted, there] = [templateOf(desired), templateOf(live)];
  const owned = treeOf(treeOf(ownedFields(live, manager) ?? {}, "f:spec"), "f:template");
  return !holds(wanted, there) || !hasAll(owned, wanted);
}

function templateOf(object: JsonTree): JsonTree {
  return treeOf(treeOf(object, "spec"), "template");
}

function treeOf(tree: JsonTree, field: string): JsonTree {
  const value = tree[field];
  return isTree(value) ? value : {};
}

/** The fields that a manager has applied, in the API's form; undefined: the manager has never applied the object. */
function ownedFields(live: JsonTree, manager: string): JsonTree | undefined {
  const managed = treeOf(live, "metadata")["managedFields"];
  const rows = Array.isArray(managed) ? managed.filter(isTree) : [];
  const row = rows.find((one) => one["manager"] === manager && one["operation"] === "Apply" && !one["subresource"]);
  return row === undefined ? undefined : treeOf(row, "fieldsV1");
}

/** Whether a live value has everything of a desired value. An absent field is as good as an empty value. */
function holds(desired: unknown, live: unknown, field = ""): boolean {
  if (isEmpty(desired) && (live === undefined || isEmpty(live))) return true;
  if (Array.isArray(desired)) return Array.isArray(live) && holdsList(desired, live);
  if (!isTree(desired)) return desired === live || (QUANTITIES.has(field) && sameQuantity(desired, live));
  if (!isTree(live)) return false;
  return Object.entries(desired).every(([key, value]) =>
    value === undefined || holds(value, live[key], QUANTITIES.has(field) ? field : key)
  );
}

function holdsList(desired: readonly unknown[], live: readonly unknown[]): boolean {
  const keys = keysOf(desired);
  if (keys === undefined) {
    return desired.length === live.length && desired.every((one, place) => holds(one, live[place]));
  }
  return desired.every((one) =>
    live.some((other) => isTree(other) && sameItem(one as JsonTree, other, keys) && holds(one, other))
  );
}

/** The fields by which all items of a list can be found; undefined: only the place tells items apart. */
function keysOf(items: readonly unknown[]): readonly string[] | undefined {
  if (items.length === 0 || !items.every(isTree)) return undefined;
  return ITEM_KEYS.find(([first]) => items.every((item) => item[first!] !== undefined));
}

function sameItem(a: JsonTree, b: JsonTree, keys: readonly string[]): boolean {
  return keys.every((key) => (a[key] ?? KEY_DEFAULTS[key]) === (b[key] ?? KEY_DEFAULTS[key]));
}

function sameQuantity(a: unknown, b: unknown): boolean {
  const number = bytesOf(a as string | number);
  return number !== undefined && number === bytesOf(b as string | number | undefined);
}

/** Whether every field of a set is in a desired value. */
function hasAll(owned: JsonTree, desired: unknown): boolean {
  return Object.entries(owned).every(([key, below]) => {
    if (key === ".") return true;
    const value = memberOf(key, desired);
    if (value === undefined) return false;
    return !isTree(below) || isEmpty(below) || typeof value !== "object" || hasAll(below, value);
  });
}

/** A member of a desired value by its name in field sets: `f:FIELD`, `k:{KEYS}`, `v:VALUE`, `i:PLACE`. */
function memberOf(key: string, desired: unknown): unknown {
  const [sort, name] = [key.slice(0, 2), key.slice(2)];
  if (sort === "f:") return isTree(desired) ? desired[name] : undefined;
  if (!Array.isArray(desired)) return undefined;
  if (sort === "i:") return desired[Number(name)];
  const wanted: unknown = JSON.parse(name);
  if (sort === "v:") return desired.includes(wanted) ? wanted : undefined;
  return isTree(wanted)
    ? desired.find((item) => isTree(item) && sameItem(item, wanted, Object.keys(wanted)))
    : undefined;
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isTree(value)) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === "" || value === 0 || value === false;
}
