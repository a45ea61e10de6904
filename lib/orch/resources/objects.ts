/**
 * Reads and writes single objects of the orchestrator's API.
 *
 * Each call is one request. A write that meets another write fails with an `ApiError` whose `conflict` is true: the
 * writer reads again and decides again. Other errors are the errors of {@linkcode ApiClient.send}.
 *
 * Permissions: the permissions of the client.
 *
 * @module
 */
import { type ApiResource, apiVersionOf, listPath, objectPath } from "../informer/resource.ts";
import type { ApiJson } from "../client/answer.ts";
import type { ApiCall, ApiClient } from "../client/client.ts";
import { ApiError } from "../client/api_error.ts";

/** The place of an object: resource, namespace and name. */
export interface ObjectPlace {
  readonly resource: ApiResource;
  /** Empty for a resource without namespaces. */
  readonly namespace: string;
  readonly name: string;
}

/** Metadata of an object to write. The place gives name and namespace. */
export type WrittenMetadata = Readonly<Record<string, unknown>>;

/** An object to write, without the fields that the place gives. */
export interface ObjectBody {
  readonly metadata?: WrittenMetadata;
  readonly [field: string]: unknown;
}

/** A part of an object with a write path of its own. */
type Subresource = "status" | "approval";

/** How a request is made. */
export type ObjectCall = Pick<ApiCall, "signal" | "within" | "unlimited">;

/** The object; undefined: the object does not exist. */
export async function getObject(
  client: ApiClient,
  place: ObjectPlace,
  call: ObjectCall = {},
): Promise<ApiJson | undefined> {
  return await client.get(pathOf(place), call);
}

/** Creates an object. A conflict: the name exists. @returns the object as the API stored it */
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
 * Replaces the version of an object that was read. A conflict: the object has another version by now.
 *
 * @param version `metadata.resourceVersion` as it was read.
 * @param subresource `status`: only the status is written. Default: everything but the status.
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
 * Deletes an object.
 *
 * @param only The uid or version to delete. A conflict: the object has changed by now. Default: any object of the name.
 * @returns false: the object did not exist
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
 * Creates an object, or sets the fields of the body and removes fields that the manager set before and the body lacks:
 * server-side apply.
 *
 * @param manager The owner of the fields.
 * @param force Takes over fields of other managers. Otherwise such fields are a conflict. Default false.
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
 * Merges fields into an object (RFC 7396): null removes a field, and a list replaces a list.
 *
 * @param change With `metadata.resourceVersion`, the patch is only for that version. Another version is a conflict.
 * @param subresource `status`: for fields that only programs write; `approval` of a signing request.
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

/** Whether a request failed because its namespace is gone or about to go: nothing can be made there any more. */
export function isNamespaceGone(error: unknown): boolean {
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
