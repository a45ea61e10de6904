/**
 * Merges parts of a pod into a pod, by the rules of the orchestrator's strategic merge: objects merge field by field,
 * lists of items with a key merge item by item, and other lists are replaced. A null removes a field.
 *
 * Keys: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/ ("patch strategy: merge")
 *
 * @module
 */

export type JsonTree = Readonly<Record<string, unknown>>;

/** Fields with lists of items, and the key of the items. */
const MERGE_KEYS: Readonly<Record<string, string>> = {
  ...{ containers: "name", initContainers: "name", ephemeralContainers: "name", volumes: "name", env: "name" },
  ...{ volumeMounts: "mountPath", volumeDevices: "devicePath", ports: "containerPort", imagePullSecrets: "name" },
  ...{ hostAliases: "ip", topologySpreadConstraints: "topologyKey", resourceClaims: "name" },
};

/** The key of the items of a list, by the name of the list's field; undefined: such lists are replaced as a whole. */
export function mergeKeyOf(field: string): string | undefined {
  return Object.hasOwn(MERGE_KEYS, field) ? MERGE_KEYS[field] : undefined;
}

/** Merges `over` into `base`, and changes neither tree. New items come last. */
export function mergeTrees<T extends JsonTree>(base: T, over: JsonTree): T {
  const merged: Record<string, unknown> = { ...base };
  for (const [field, value] of Object.entries(over)) {
    if (value === null) delete merged[field];
    else if (value !== undefined) merged[field] = mergeField(field, merged[field], value);
  }
  return merged as T;
}

function mergeField(field: string, base: unknown, over: unknown): unknown {
  const key = MERGE_KEYS[field];
  if (Array.isArray(over)) {
    if (key === undefined || !Array.isArray(base)) return over;
    return mergeLists(field, base as JsonTree[], over as JsonTree[], key);
  }
  if (!isTree(over)) return over;
  return mergeTrees(isTree(base) ? base : {}, over);
}

function mergeLists(field: string, base: readonly JsonTree[], over: readonly JsonTree[], key: string): JsonTree[] {
  const merged = [...base];
  const places = new Map<unknown, number>();
  merged.forEach((one, place) => places.has(one[key]) || places.set(one[key], place));
  for (const item of over) {
    const at = places.get(item[key]);
    if (at === undefined) places.set(item[key], merged.push(item) - 1);
    else merged[at] = field === "volumes" ? mergeVolume(merged[at]!, item) : mergeItem(merged[at]!, item);
  }
  return merged;
}

/** A variable's value and its source exclude each other: either one in `over` replaces both in `base`. */
function mergeItem(base: JsonTree, over: JsonTree): JsonTree {
  const { value, valueFrom, ...rest } = base;
  const replaces = over["value"] !== undefined || over["valueFrom"] !== undefined;
  return mergeTrees(replaces ? rest : { ...rest, ...given({ value, valueFrom }) }, over);
}

/** A volume has one source: another source in `over` replaces the source. */
function mergeVolume(base: JsonTree, over: JsonTree): JsonTree {
  const source = Object.keys(over).find((field) => field !== "name" && over[field] !== null);
  if (source === undefined || base[source] !== undefined) return mergeTrees(base, over);
  return mergeTrees({ name: base["name"] }, over);
}

function given(tree: JsonTree): JsonTree {
  return Object.fromEntries(Object.entries(tree).filter(([, value]) => value !== undefined));
}

/** Whether a value is an object of JSON, neither a list nor null. */
export function isTree(value: unknown): value is JsonTree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
