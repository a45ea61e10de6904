/**
 * Objects with the names that Go has for their fields, and the JSON that they came from.
 *
 * @module
 */

const SOURCE = Symbol("JSON that an object of templates was made of");
/** Fields that hold maps: their keys are users' words. */
const MAPS: readonly string[] = [
  ...["labels", "annotations", "proxyMetadata", "runtimeValues", "limits", "requests", "matchLabels", "nodeSelector"],
];
/** Words that Go's names have in capitals where a name begins with them. */
const CAPITALS = /^(?:api|aws|csi|dns|fc|fs|gce|grpc|http|ip|iscsi|nfs|rbd|tcp|tty|uid)(?=[A-Z]|$)|^se(?=Linux)/;

/** A tree whose objects have Go's names of fields. */
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

/** The object, which JSON and YAML have as another tree. */
export function withSource<T extends object>(object: T, source: unknown): T {
  Object.defineProperty(object, SOURCE, { value: source, configurable: true });
  return object;
}

/** A value as JSON has it: data alone, with the field names of the API. */
export function plainTree(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainTree);
  if (typeof value !== "object" || value === null) return value;
  if (SOURCE in value) return value[SOURCE];
  if (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null) return String(value);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plainTree(one)]));
}
