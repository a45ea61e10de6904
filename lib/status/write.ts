/**
 * Changes the status of an object in the version that was read, so that no other writer's change is lost.
 *
 * Permissions: the permissions of the client. Rights of the account: `get` of the resource and `patch` of its `status`.
 *
 * @module
 */
import { type ApiJson, isApiJson } from "../orch/client/answer.ts";
import type { ApiClient } from "../orch/client/client.ts";
import { ApiError } from "../orch/client/api_error.ts";
import { getObject, type ObjectPlace, patchObject } from "../orch/resources/objects.ts";

/** The parts of an object that a change of status needs. */
export interface StatusBearer {
  readonly generation: number;
  readonly status: ApiJson;
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
    const object = await getObject(client, place, { signal });
    const metadata = isApiJson(object?.["metadata"]) ? object["metadata"] : {};
    if (object === undefined || metadata["uid"] !== uid) return "gone";
    const generation = typeof metadata["generation"] === "number" ? metadata["generation"] : 0;
    const status = change({ generation, status: isApiJson(object["status"]) ? object["status"] : {} });
    if (status === undefined) return "same";
    try {
      const version = metadata["resourceVersion"];
      const body = { metadata: { resourceVersion: version }, status };
      await patchObject(client, place, body, { signal, subresource: "status" });
      return "written";
    } catch (error) {
      // 404: the object was removed meanwhile, or its definition has no status. The last attempt reports the cause.
      const again = error instanceof ApiError && (error.conflict || error.status === 404);
      if (!again || attempt === ATTEMPTS) throw error;
    }
  }
}
