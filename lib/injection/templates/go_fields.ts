/**
 * Objects with Go's names of fields, and the JSON from which the objects were made.
 *
 * @module
 */

const SOURCE = Symbol("JSON that an object of templates was made of");
/** Fields with maps, whose keys are users' texts. */
const MAPS: readonly string[] = [
  ...["labels", "annotations", "proxyMetadata", "runtimeValues", "limits", "requests", "matchLabels", "nodeSelector"],
];
/** Words that Go writes in capitals at the beginning of a name. */
const CAPITALS = /^(?:api|aws|csi|dns|fc|fs|gce|grpc|http|ip|iscsi|nfs|rbd|tcp|tty|uid)(?=[A-Z]|$)|^se(?=Linux)/;

/** A tree with Go's names of fields in its objects. */
export function goFields(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(goFields);
  if (typeof tree !== "object" || tree === null) return tree;
  const entries = Object.entries(tree).map(([key, one]) =>
    [goName(key), MAPS.includes(key) ? one : goFields(one)] as const
  );
  return withSource(Object.fromEntries(entries), tree);
}

function goName(key: string): string {
  const word = CAPITALS.exec(key)?.[0] ?? key.charAt(0);
  return word.toUpperCase() + key.slice(word.length);
}

/** An object with another tree for JSON and YAML. */
export function withSource<T extends object>(object: T, source: unknown): T {
  Object.defineProperty(object, SOURCE, { value: source, configurable: true });
  return object;
}

/** A value in the form of JSON: only data, with the API's names of fields. */
export function plainTree(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainTree);
  if (typeof value !== "object" || value === null) return value;
  if (SOURCE in value) return value[SOURCE];
  if (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null) return String(value);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plainTree(one)]));
}
