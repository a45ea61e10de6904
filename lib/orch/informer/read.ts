/**
 * Reads pages of lists and lines of watches for an informer.
 *
 * @module
 */
import { type ApiAnswer, type ApiJson, isApiJson } from "../client/answer.ts";
import { ApiError } from "../client/api_error.ts";
import type { CacheEvent, KeptObject } from "./cache.ts";
import type { ListPage } from "./machine.ts";

/** Reduces an object to the needed fields. Called once for each version. Must not keep the object itself. */
export type Projector<T> = (object: ApiJson) => T;

/** How objects are read and kept. */
export interface ReadParts<T> {
  readonly project: Projector<T>;
  /** Called with an object that cannot be kept. The object's last version stays. */
  readonly refused: (object: { readonly namespace: string; readonly name: string }, error: unknown) => void;
  /** The last version of an object, if any. */
  readonly kept: (namespace: string, name: string) => KeptObject<T> | undefined;
}

/**
 * Reads a page of a list while it arrives.
 *
 * @throws {ApiError} for an answer that is not a list, or ends too early.
 */
export async function readPage<T>(answer: ApiAnswer, parts: ReadParts<T>): Promise<ListPage<T>> {
  const objects: KeptObject<T>[] = [];
  const take = (item: unknown) => {
    const kept = readObject(item, parts);
    if (kept !== undefined) objects.push(kept);
  };
  const { items, metadata } = await answer.list(take);
  const meta = isApiJson(metadata) ? metadata : {};
  // Some servers write null for an empty list.
  if (!Array.isArray(items ?? []) || typeof meta["resourceVersion"] !== "string") {
    throw new ApiError("the answer is not a list: items or metadata.resourceVersion are missing", undefined);
  }
  // Only items under another spelling of the field's name are left until the end.
  for (const item of (items ?? []) as unknown[]) take(item);
  return { objects, version: meta["resourceVersion"], token: textOf(meta["continue"]) };
}

/** The meaning of some lines of a watch. */
export interface WatchLines<T> {
  readonly events: readonly CacheEvent<T>[];
  /** Version of the last event or bookmark; empty: no version was reported. */
  readonly version: string;
  /** The error that ended the watch after the events. */
  readonly error: ApiError | undefined;
}

/** Reads lines of a watch, up to the first line that ends the watch. Never throws. */
export function readLines<T>(lines: readonly string[], parts: ReadParts<T>): WatchLines<T> {
  const events: CacheEvent<T>[] = [];
  let version = "";
  for (const line of lines) {
    const event = parsed(line);
    if (!isApiJson(event) || !isApiJson(event["object"])) {
      return {
        events,
        version,
        error: new ApiError(`a line of the watch is not an event: ${line.slice(0, 100)}`, undefined),
      };
    }
    const { type, object } = event as { readonly type: unknown; readonly object: ApiJson };
    if (type === "ERROR") return { events, version, error: errorOf(object) };
    const meta = isApiJson(object["metadata"]) ? object["metadata"] : {};
    if (type === "ADDED" || type === "MODIFIED" || type === "DELETED") {
      const kept = readObject(object, parts, type === "DELETED");
      if (kept !== undefined) events.push({ type: type === "DELETED" ? "gone" : "put", object: kept });
    }
    // The version of an ignored event counts too: the event lies in the past.
    version = textOf(meta["resourceVersion"]) || version;
  }
  return { events, version, error: undefined };
}

/** A kept object; undefined: the object has no name, or the projector refuses the object. */
function readObject<T>(
  object: unknown,
  { project, refused, kept }: ReadParts<T>,
  isGone = false,
): KeptObject<T> | undefined {
  if (!isApiJson(object) || !isApiJson(object["metadata"])) return undefined;
  const { metadata } = object;
  const [namespace, name] = [textOf(metadata["namespace"]), textOf(metadata["name"])];
  if (name === "") return undefined;
  const [uid, version] = [textOf(metadata["uid"]), textOf(metadata["resourceVersion"])];
  const old = kept(namespace, name);
  // Of a removed object, only the identity is needed.
  if (isGone) return { namespace, name, uid, version, value: old?.value as T };
  if (old !== undefined && old.uid === uid && old.version === version) return old;
  try {
    return { namespace, name, uid, version, value: project(object) };
  } catch (error) {
    refused({ namespace, name }, error);
    return old;
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** A Status object in a watch. */
function errorOf({ code, message, reason }: ApiJson): ApiError {
  const status = typeof code === "number" ? code : reason === "Expired" || reason === "Gone" ? 410 : undefined;
  return new ApiError(`the watch was ended: ${status ?? "no code"}: ${textOf(message)}`, status);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
