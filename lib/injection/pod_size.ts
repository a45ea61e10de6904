/**
 * Limits of a pod, checked before anything else reads the pod: when the API asks, it has not validated the fields yet.
 *
 * @module
 */
import { isObject } from "../config/schema/field.ts";

/**
 * Most bytes of a pod's annotations, or of its labels, keys and values together. The API has the same limit for
 * annotations.
 */
const MAX_TEXT_BYTES = 256 * 1024;
/** Most annotations, or labels, of one pod. */
const MAX_TEXTS = 2_000;
/** Most containers of each sort. */
const MAX_CONTAINERS = 500;
/**
 * Most values (texts, numbers, lists, objects) of the whole pod: some hundred containers with some hundred variables
 * each.
 */
const MAX_VALUES = 50_000;
/** Deepest nesting of lists and objects. A pod of the API has about ten levels. */
const MAX_DEPTH = 60;

const LISTS = ["containers", "initContainers", "ephemeralContainers"] as const;

/** The exceeded limits of a pod, one per line; empty: the pod may be read. */
export function sizeProblems(pod: unknown): string[] {
  if (!isObject(pod)) return [];
  const metadata = isObject(pod["metadata"]) ? pod["metadata"] : {};
  const spec = isObject(pod["spec"]) ? pod["spec"] : {};
  const lists = LISTS.flatMap((field) => {
    const list = spec[field];
    if (!Array.isArray(list) || list.length <= MAX_CONTAINERS) return [];
    return [`spec.${field}: got ${list.length}, expected at most ${MAX_CONTAINERS}`];
  });
  const found = [
    ...textProblems("metadata.labels", metadata["labels"]),
    ...textProblems("metadata.annotations", metadata["annotations"]),
    ...lists,
  ];
  return found.length > 0 ? found : treeProblems(pod);
}

function textProblems(field: string, texts: unknown): string[] {
  if (!isObject(texts)) return [];
  const keys = Object.keys(texts);
  if (keys.length > MAX_TEXTS) return [`${field}: got ${keys.length}, expected at most ${MAX_TEXTS}`];
  const bytes = keys.reduce((sum, key) => sum + bytesOf(key) + bytesOf(texts[key]), 0);
  if (bytes <= MAX_TEXT_BYTES) return [];
  return [`${field}: got ${bytes} bytes of keys and values, expected at most ${MAX_TEXT_BYTES}`];
}

const encoder = new TextEncoder();

function bytesOf(text: unknown): number {
  return typeof text === "string" ? encoder.encode(text).length : 0;
}

/** The exceeded limits of a tree as a whole. The walk is not recursive, because a client chooses the tree's depth. */
export function treeProblems(pod: unknown): string[] {
  let level: unknown[] = [pod];
  let values = 0;
  for (let depth = 0; level.length > 0; depth++) {
    values += level.length;
    if (depth > MAX_DEPTH) return [`the pod: got more than ${MAX_DEPTH} lists and objects inside of each other`];
    if (values > MAX_VALUES) return [`the pod: got more than ${MAX_VALUES} values, expected at most as many`];
    const inner: unknown[] = [];
    for (const value of level) {
      if (typeof value !== "object" || value === null) continue;
      const parts = Array.isArray(value) ? value : Object.values(value);
      if (values + inner.length + parts.length > MAX_VALUES) {
        return [`the pod: got more than ${MAX_VALUES} values, expected at most as many`];
      }
      for (const part of parts) inner.push(part);
    }
    level = inner;
  }
  return [];
}
