/**
 * The served resources of the orchestrator, and the versions of each resource.
 *
 * Permissions: the permissions of the client.
 *
 * @module
 */
import { type ApiJson, isApiJson } from "../client/answer.ts";
import type { ApiClient } from "../client/client.ts";

/**
 * Versions of the resources of a group, by plural; empty: the API does not serve the group.
 *
 * @throws {ApiError} when the API does not answer.
 */
export async function servedVersions(
  client: ApiClient,
  group: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const found = new Map<string, Set<string>>();
  const versions = rows(await client.get(`/apis/${group}`, { signal }), "versions").map((row) => row["version"]);
  for (const version of versions) {
    if (typeof version !== "string") continue;
    const resources = rows(await client.get(`/apis/${group}/${version}`, { signal }), "resources");
    for (const { name } of resources) {
      if (typeof name !== "string") continue;
      const known = found.get(name);
      if (known === undefined) found.set(name, new Set([version]));
      else known.add(version);
    }
  }
  return found;
}

function rows(answer: ApiJson | undefined, field: string): readonly ApiJson[] {
  const list = answer?.[field];
  return Array.isArray(list) ? list.filter(isApiJson) : [];
}
