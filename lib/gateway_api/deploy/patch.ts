/**
 * Strategic merge patches with directives: `$patch: delete` removes an object or the item of a list, `$patch: replace`
 * replaces an object or a whole list, a null removes a field.
 *
 * Rules: https://kubernetes.io/docs/tasks/manage-kubernetes-objects/update-api-object-kubectl-patch/
 *
 * @module
 */
import { isTree, type JsonTree, mergeKeyOf, mergeTrees } from "../../injection/merge.ts";

const DIRECTIVE = "$patch";

/** Merges a patch into an object, and changes neither. */
export function patched(base: JsonTree, patch: JsonTree): JsonTree {
  const prepared = prepare(base, patch);
  return mergeTrees(prepared.base, prepared.patch);
}

interface Prepared {
  readonly base: JsonTree;
  readonly patch: JsonTree;
}

/** Carries out the directives on the base, and merges the lists whose keys only this module knows. */
function prepare(base: JsonTree, patch: JsonTree): Prepared {
  const before: Record<string, unknown> = patch[DIRECTIVE] === "replace" ? {} : { ...base };
  const after: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(patch)) {
    // Other directives say the order of lists to programs that compare versions.
    if (field.startsWith("$")) continue;
    if (Array.isArray(value)) {
      before[field] = listOf(field, before[field], value);
      continue;
    }
    if (isTree(value) && value[DIRECTIVE] === "delete") {
      delete before[field];
      continue;
    }
    after[field] = value;
    if (!isTree(value)) continue;
    const old = before[field];
    if (!isTree(old)) {
      after[field] = patched({}, value);
      continue;
    }
    const inner = prepare(old, value);
    before[field] = inner.base;
    after[field] = inner.patch;
  }
  return { base: before, patch: after };
}

/** A list with the items of a patch. */
function listOf(field: string, base: unknown, patch: readonly unknown[]): readonly unknown[] {
  const old: readonly unknown[] = Array.isArray(base) ? base : [];
  if (!patch.every(isTree) || !old.every(isTree)) return patch;
  const values = patch.filter((item) => !isWholeList(item));
  const key = field === "ports" && [...old, ...patch].some((item) => item["port"] !== undefined)
    ? "port"
    : mergeKeyOf(field);
  if (key === undefined || values.length < patch.length) return values.filter((item) => item[DIRECTIVE] === undefined);
  const merged = new Map<unknown, JsonTree>(old.map((item, place) => [idOf(item, key) ?? `#${place}`, item]));
  for (const item of values) {
    const id = idOf(item, key) ?? `#${merged.size}`;
    if (item[DIRECTIVE] === "delete") merged.delete(id);
    else {
      const { [DIRECTIVE]: directive, ...rest } = item;
      const under = directive === "replace" ? undefined : merged.get(id);
      merged.set(id, key === "port" ? { ...under, ...rest } : mergedItem(field, under, rest));
    }
  }
  return [...merged.values()];
}

/** One item over another by the rules of the list's field. */
function mergedItem(field: string, under: JsonTree | undefined, item: JsonTree): JsonTree {
  if (under === undefined) return patched({}, item);
  const { base, patch } = prepare(under, item);
  const list = mergeTrees({ [field]: [base] }, { [field]: [patch] })[field];
  return (list as readonly JsonTree[])[0] ?? patch;
}

/** Ports of a Service may have one number for two protocols. */
function idOf(item: JsonTree, key: string): unknown {
  return key === "port" ? `${item["port"]}/${item["protocol"] ?? "TCP"}` : item[key];
}

/** `- $patch: replace` as an item of its own replaces the list. */
function isWholeList(item: JsonTree): boolean {
  return item[DIRECTIVE] === "replace" && Object.keys(item).length === 1;
}
