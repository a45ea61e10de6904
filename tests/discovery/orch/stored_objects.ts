/** Objects of a stand-in for the orchestrator's API: paths, selectors, and server-side apply with lists as single values. */

type Tree = Readonly<Record<string, unknown>>;

/** An object of the stand-in. */
export interface ApiObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly [key: string]: unknown;
  };
  readonly [key: string]: unknown;
}

/** The place of an object or of a list. */
export interface ApiPlace {
  /** For all namespaces: `/api/v1/services`. */
  readonly path: string;
  readonly namespace: string;
  /** Empty: all objects of the path. */
  readonly name: string;
}

/** Reads the path of a request; undefined: the path is none of objects. */
export function readPlace(path: string): ApiPlace | undefined {
  const pattern =
    /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+)(?=\/))?\/([^/]+)(?:\/([^/]+))?(?:\/status)?$/;
  const [, root, namespace = "", plural, name = ""] = pattern.exec(path) ?? [];
  return root === undefined ? undefined : { path: `${root}/${plural}`, namespace, name: decodeURIComponent(name) };
}

/** Whether a selector of labels selects an object: terms `key`, `!key` and `key=value`. */
export function isSelected({ metadata: { labels = {} } }: ApiObject, selector: string): boolean {
  return selector.split(",").filter((term) => term !== "").every((term) => {
    if (term.startsWith("!")) return labels[term.slice(1)] === undefined;
    const [key = "", value] = term.split("=");
    return value === undefined ? labels[key] !== undefined : labels[key] === value;
  });
}

/** The result of an apply: an object, or the status of the refusal. */
export function appliedObject(
  old: ApiObject | undefined,
  body: ApiObject,
  manager: string,
  force: boolean,
): ApiObject | number {
  const { uid, resourceVersion: _, ...metadata } = body.metadata;
  const rows = (old?.metadata["managedFields"] ?? []) as readonly Tree[];
  const own = rows.find((row) => row["manager"] === manager);
  if (uid !== undefined && uid !== old?.metadata["uid"]) return 409;
  if (old !== undefined && own === undefined && !force) return 409;
  const wanted: Tree = { ...body, metadata };
  const kept = own === undefined ? old ?? {} : without(old ?? {}, own["fieldsV1"] as Tree);
  const { apiVersion: __, kind: ___, metadata: { name: ____, namespace: _____, ...others }, ...rest } =
    wanted as ApiObject;
  const merged = over(kept, wanted) as ApiObject;
  const row = { manager, operation: "Apply", fieldsV1: fieldsOf({ ...rest, metadata: others }) };
  return {
    ...merged,
    metadata: { ...merged.metadata, managedFields: [...rows.filter((one) => one !== own), row] },
  };
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function over(base: Tree, patch: Tree): Tree {
  const entries = Object.entries(patch).map(([key, value]) => {
    const old = base[key];
    return [key, isTree(value) ? over(isTree(old) ? old : {}, value) : value];
  });
  return { ...base, ...Object.fromEntries(entries) };
}

function without(base: Tree, fields: Tree): Tree {
  const entries = Object.entries(base).flatMap(([key, value]) => {
    const below = fields[`f:${key}`];
    if (!isTree(below)) return [[key, value]];
    return isTree(value) && Object.keys(below).length > 0 ? [[key, without(value, below)]] : [];
  });
  return Object.fromEntries(entries);
}

/** The fields of an object, as an API server lists them. Items of lists are told apart by their places. */
function fieldsOf(tree: Tree): Tree {
  const below = (value: unknown): Tree => {
    if (isTree(value)) return fieldsOf(value);
    return Array.isArray(value) ? Object.fromEntries(value.map((_, place) => [`i:${place}`, {}])) : {};
  };
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [`f:${key}`, below(value)]));
}

/** A merge patch (RFC 7396) over an object. */
export function mergedObject(base: Tree, patch: Tree): Tree {
  const next: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(patch)) {
    const old = next[key];
    if (value === null) delete next[key];
    else next[key] = isTree(value) ? mergedObject(isTree(old) ? old : {}, value) : value;
  }
  return next;
}
