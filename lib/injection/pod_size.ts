/**
 * Limits of a pod, looked at before anything else reads it: the API has not judged its fields yet when it asks about it.
 *
 * @module
 */
import { isObject } from "../config/schema/field.ts";

/** Bytes of a pod's annotations, or of its labels, keys and values together: what the API allows of annotations. */
const MAX_TEXT_BYTES = 256 * 1024;
/** Annotations, or labels, of one pod. */
const MAX_TEXTS = 2_000;
/** Containers of each sort. */
const MAX_CONTAINERS = 500;
/** Values (texts, numbers, lists, objects) of the whole pod: some hundred containers with some hundred variables each. */
const MAX_VALUES = 50_000;
/** Lists and objects inside of each other. A pod of the API has about ten. */
const MAX_DEPTH = 60;

const LISTS = ["containers", "initContainers", "ephemeralContainers"] as const;

/** What is too much in a pod, a line each. None: its parts are worth reading. */
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

/** What is too much in a tree as a whole. It is walked without recursion: its depth is the client's to choose. */
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
