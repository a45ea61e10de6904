/**
 * Objects of the orchestrator's API, read and written one at a time.
 *
 * Each call is one request. A write that met another one fails with an `ApiError` whose `conflict` is true: the writer
 * reads again and decides again. Errors are those of {@linkcode ApiClient.send}.
 *
 * Permissions: those of the client.
 *
 * @module
 */
import { type ApiResource, apiVersionOf, listPath, objectPath } from "../informer/resource.ts";
import type { ApiJson } from "../client/answer.ts";
import type { ApiCall, ApiClient } from "../client/client.ts";
import { ApiError } from "../client/api_error.ts";

/** The place of an object: its resource, and where it is there. */
export interface ObjectPlace {
  readonly resource: ApiResource;
  /** Empty for a resource without namespaces. */
  readonly namespace: string;
  readonly name: string;
}

/** Metadata that a writer gives an object; its name and namespace come from the place. */
export type WrittenMetadata = Readonly<Record<string, unknown>>;

/** An object to write: everything but the fields that its place gives. */
export interface ObjectBody {
  readonly metadata?: WrittenMetadata;
  readonly [field: string]: unknown;
}

/** A part of an object that is written by itself. */
type Subresource = "status" | "approval";

/** How a request is made. */
export type ObjectCall = Pick<ApiCall, "signal" | "within" | "urgent">;

/** The object; undefined: there is none. */
export async function getObject(
  client: ApiClient,
  place: ObjectPlace,
  call: ObjectCall = {},
): Promise<ApiJson | undefined> {
  return await client.get(pathOf(place), call);
}

/** Makes an object. A conflict: there is one of that name. @returns it as the API keeps it */
export async function createObject(
  client: ApiClient,
  place: ObjectPlace,
  body: ObjectBody,
  call: ObjectCall = {},
): Promise<ApiJson> {
  const path = listPath(place.resource, place.namespace);
  return await client.json({ ...call, method: "POST", path, body: wholeObject(place, body) });
}

/**
 * Puts an object in the place of the version that was read. A conflict: it is another version by now.
 *
 * @param version `metadata.resourceVersion` as it was read.
 * @param subresource `status`: only that part is written. Default: everything but that part.
 */
export async function replaceObject(
  client: ApiClient,
  place: ObjectPlace,
  version: string,
  body: ObjectBody,
  { subresource, ...call }: ObjectCall & { readonly subresource?: "status" } = {},
): Promise<ApiJson> {
  const whole = wholeObject(place, { ...body, metadata: { ...body.metadata, resourceVersion: version } });
  return await client.json({ ...call, method: "PUT", path: pathOf(place, subresource), body: whole });
}

/**
 * Takes an object away.
 *
 * @param only The uid or the version that is meant; a conflict: it is another one by now. Default: any object that is
 * there.
 * @returns false: there was none
 */
export async function deleteObject(
  client: ApiClient,
  place: ObjectPlace,
  only: { readonly uid?: string; readonly resourceVersion?: string } = {},
  call: ObjectCall = {},
): Promise<boolean> {
  try {
    await client.tell({ ...call, method: "DELETE", path: pathOf(place), body: { preconditions: only } });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

/**
 * Makes an object, or sets the fields that the body has and takes away those that the manager set before and the body has
 * no more: server-side apply.
 *
 * @param manager The owner of the fields.
 * @param force Takes over fields of other managers; without it these are a conflict. Default false.
 */
export async function applyObject(
  client: ApiClient,
  place: ObjectPlace,
  body: ObjectBody,
  { manager, force = false, subresource, ...call }: ObjectCall & {
    readonly manager: string;
    readonly force?: boolean;
    readonly subresource?: "status";
  },
): Promise<ApiJson> {
  const path = `${pathOf(place, subresource)}?${new URLSearchParams({ fieldManager: manager, force: String(force) })}`;
  const type = "application/apply-patch+yaml";
  return await client.json({ ...call, method: "PATCH", path, type, body: wholeObject(place, body) });
}

/**
 * Merges fields into an object (RFC 7396): null takes a field away, a list replaces a list.
 *
 * @param change With `metadata.resourceVersion` the patch is for that version alone, and a conflict for another one.
 * @param subresource `status`: for the fields that only programs write; `approval` of a signing request.
 */
export async function patchObject(
  client: ApiClient,
  place: ObjectPlace,
  change: ApiJson,
  { subresource, ...call }: ObjectCall & { readonly subresource?: Subresource } = {},
): Promise<ApiJson> {
  const type = "application/merge-patch+json";
  return await client.json({ ...call, method: "PATCH", path: pathOf(place, subresource), type, body: change });
}

/** Whether a namespace is gone, or going: nothing can be made there any more. */
export function isLeaving(error: unknown): boolean {
  return error instanceof ApiError &&
    (error.status === 404 || (error.forbidden && error.message.includes("being terminated")));
}

function pathOf({ resource, namespace, name }: ObjectPlace, subresource?: Subresource): string {
  return objectPath(resource, namespace, name) + (subresource === undefined ? "" : `/${subresource}`);
}

function wholeObject({ resource, namespace, name }: ObjectPlace, body: ObjectBody): ObjectBody {
  const metadata = { ...body.metadata, name, ...(namespace === "" ? {} : { namespace }) };
  return { ...body, apiVersion: apiVersionOf(resource), kind: resource.kind, metadata };
}
