/**
 * The differences between two messages as JSON, in few lines: a path and the values on both sides.
 *
 * @module
 */

/** A field with a difference. */
export interface FieldDifference {
  /** Such as `routes["beta"].route.timeout`; empty: the whole. */
  readonly path: string;
  /** Absent: not there before. */
  readonly before?: unknown;
  /** Absent: not there any more. */
  readonly after?: unknown;
}

/** Listed differences of each message. A further entry says that there are others. */
const MAX_DIFFERENCES = 40;

/** The differing fields, in the order of the fields. */
export function differencesOf(before: unknown, after: unknown): FieldDifference[] {
  const found: FieldDifference[] = [];
  compare("", before, after, found);
  return found.length > MAX_DIFFERENCES ? found.slice(0, MAX_DIFFERENCES) : found;
}

function compare(path: string, before: unknown, after: unknown, found: FieldDifference[]): void {
  if (found.length > MAX_DIFFERENCES || sameJson(before, after)) return;
  if (isWeighted(before) && isWeighted(after)) {
    found.push({ path, before: weightsOf(before), after: weightsOf(after) });
  } else if (Array.isArray(before) && Array.isArray(after)) compareLists(path, before, after, found);
  else if (isFields(before) && isFields(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      compare(path === "" ? key : `${path}.${key}`, before[key], after[key], found);
    }
  } else {
    found.push({
      path,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    });
  }
}

/** Items of the same name are compared with each other. Items without names are compared by position. */
function compareLists(path: string, before: readonly unknown[], after: readonly unknown[], found: FieldDifference[]) {
  const [old, now] = [keysOf(before), keysOf(after)];
  if (old === undefined || now === undefined) {
    for (let at = 0; at < Math.max(before.length, after.length); at++) {
      compare(`${path}[${at}]`, before[at], after[at], found);
    }
    return;
  }
  const shared = old.filter((key) => now.includes(key));
  for (const key of new Set([...old, ...now])) {
    compare(`${path}[${key}]`, before[old.indexOf(key)], after[now.indexOf(key)], found);
  }
  const order = now.filter((key) => old.includes(key));
  if (shared.join("\n") !== order.join("\n")) found.push({ path: `${path} (order)`, before: shared, after: order });
}

/** The names of all items; undefined: an item has no name, or two items share a name. */
function keysOf(list: readonly unknown[]): string[] | undefined {
  const keys = list.map((item) => {
    if (typeof item === "string") return JSON.stringify(item);
    const name = isFields(item) ? item.name ?? item.cluster_name ?? addressOf(item) : undefined;
    return typeof name === "string" ? JSON.stringify(name) : undefined;
  });
  return keys.includes(undefined) || new Set(keys).size < keys.length ? undefined : keys as string[];
}

/** An endpoint's name is its address. */
function addressOf(item: Readonly<Record<string, unknown>>): string | undefined {
  const socket = at(item, "endpoint", "address", "socket_address");
  return isFields(socket) ? `${String(socket.address)}:${String(socket.port_value)}` : undefined;
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inside, key) => (isFields(inside) ? inside[key] : undefined), value);
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

interface Weighted {
  readonly clusters: readonly { readonly name: string; readonly weight?: number }[];
}

function isWeighted(value: unknown): value is Weighted {
  return isFields(value) && Array.isArray(value.clusters) && Object.keys(value).length === 1 &&
    value.clusters.every((one) => isFields(one) && typeof one.name === "string" && Object.keys(one).length <= 2);
}

/** `v1 90, v2 10`: the subset of a cluster, if the cluster has one. */
function weightsOf({ clusters }: Weighted): string {
  return clusters.map(({ name, weight = 0 }) => {
    const [, port, subset, host] = name.split("|");
    return `${subset || (host === undefined ? name : `${host}:${port}`)} ${weight}`;
  }).join(", ");
}

function sameJson(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
