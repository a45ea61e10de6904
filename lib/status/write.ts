/**
 * Changes the status of an object in the version that was read, so that no other writer's change is lost.
 *
 * The limit of status updates lets an update through before its requests are made, so the client's rate limit counts only
 * the requests after a conflict.
 *
 * Permissions: the permissions of the client. Rights of the account: `get` of the resource and `patch` of its `status`.
 *
 * @module
 */
import type { Clock } from "../kernel/time/clock.ts";
import { type ApiJson, isApiJson } from "../orch/client/answer.ts";
import type { ApiClient } from "../orch/client/client.ts";
import { ApiError } from "../orch/client/api_error.ts";
import { getObject, type ObjectCall, type ObjectPlace, patchObject } from "../orch/resources/objects.ts";

/** A status as it was read, and the generation of its object. */
export interface ReadStatus {
  readonly generation: number;
  readonly status: ApiJson;
}

/** A status that is known already. */
export interface KnownStatus extends ReadStatus {
  /** The API's version of the object with this status. */
  readonly version: string;
}

/** The parts of an object that a change of status needs. */
export interface StatusBearer extends ReadStatus {
  readonly spec: ApiJson;
  /** As the API has them. */
  readonly labels: ApiJson;
}

/** Outcome of a write. */
export type StatusOutcome = "written" | "same" | "gone";

/** Most attempts: each conflict is another writer's success. */
const ATTEMPTS = 5;

/**
 * Changes a status.
 *
 * @param uid Uid of the object. A later object of the same name is left alone.
 * @param change The fields to merge into the status; undefined: nothing is written.
 * @throws {ApiError} without an answer, for a refusal, and after conflicts without end
 */
export async function changeStatus(
  client: ApiClient,
  place: ObjectPlace,
  uid: string,
  change: (object: StatusBearer) => ApiJson | undefined,
  signal: AbortSignal,
): Promise<StatusOutcome> {
  for (let attempt = 1;; attempt++) {
    const call = { signal, unlimited: attempt === 1 };
    const object = await getObject(client, place, call);
    const metadata = isApiJson(object?.["metadata"]) ? object["metadata"] : {};
    if (object === undefined || metadata["uid"] !== uid) return "gone";
    const generation = typeof metadata["generation"] === "number" ? metadata["generation"] : 0;
    const part = (one: unknown) => isApiJson(one) ? one : {};
    const [before, spec, labels] = [part(object["status"]), part(object["spec"]), part(metadata["labels"])];
    const status = change({ generation, status: before, spec, labels });
    if (status === undefined) return "same";
    try {
      return await patchStatus(client, place, metadata["resourceVersion"], status, call);
    } catch (error) {
      if (!isOvertaken(error) || attempt === ATTEMPTS) throw error;
    }
  }
}

/**
 * Changes a status that is known already: one request, and after a conflict the requests of {@linkcode changeStatus}.
 *
 * @param uid Uid of the object. A later object of the same name is left alone.
 * @param change The fields to merge into the status; undefined: nothing is written.
 * @throws {ApiError} as {@linkcode changeStatus} does
 */
export async function changeKnownStatus(
  client: ApiClient,
  { place, uid, known }: { readonly place: ObjectPlace; readonly uid: string; readonly known: KnownStatus },
  change: (read: ReadStatus) => ApiJson | undefined,
  signal: AbortSignal,
): Promise<StatusOutcome> {
  const status = change(known);
  if (status === undefined) return "same";
  try {
    return await patchStatus(client, place, known.version, status, { signal, unlimited: true });
  } catch (error) {
    if (!isOvertaken(error)) throw error;
    return await changeStatus(client, place, uid, change, signal);
  }
}

async function patchStatus(
  client: ApiClient,
  place: ObjectPlace,
  version: unknown,
  status: ApiJson,
  call: ObjectCall,
): Promise<StatusOutcome> {
  await patchObject(client, place, { metadata: { resourceVersion: version }, status }, {
    ...call,
    subresource: "status",
  });
  return "written";
}

/** 404: the object was removed meanwhile, or its definition has no status. The last attempt reports the cause. */
function isOvertaken(error: unknown): boolean {
  return error instanceof ApiError && (error.conflict || error.status === 404);
}

/** The present time in the form of conditions: RFC 3339, whole seconds. */
export function statusTime(clock: Pick<Clock, "now">): string {
  return new Date(clock.now()).toISOString().replace(/\.\d+/, "");
}

/** The change from one status to another (RFC 7396): null removes a field. */
export function mergePatch(present: ApiJson, next: ApiJson): ApiJson {
  const gone = Object.keys(present).filter((field) => !Object.hasOwn(next, field));
  return { ...next, ...Object.fromEntries(gone.map((field) => [field, null])) };
}
