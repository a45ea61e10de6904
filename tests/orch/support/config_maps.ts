/** An informer of config maps, and a view of its objects for tests. */
import assert from "node:assert/strict";
import type { ApiClient } from "../../../lib/orch/client/client.ts";
import { Informer, type InformerOptions } from "../../../lib/orch/informer/informer.ts";
import type { ApiResource } from "../../../lib/orch/informer/resource.ts";
import { PATIENCE } from "../../patience.ts";

export const CONFIG_MAPS: ApiResource = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};

/** Starts an informer that keeps one value of each config map. */
export function watchConfigMaps(client: ApiClient, options: Partial<InformerOptions<string>> = {}) {
  const troubles: string[] = [];
  const informer = new Informer<string>(client, {
    resource: CONFIG_MAPS,
    project: (object) => String((object["data"] as Record<string, unknown> | undefined)?.["v"]),
    troubled: ({ message }) => troubles.push(message),
    ...options,
  });
  const changed = new Set<() => void>();
  const removed: string[] = [];
  informer.subscribe((change) => {
    for (const { namespace, name, uid } of change.removed) removed.push(`${namespace}/${name} ${uid}`);
    for (const look of changed) look();
  });
  const state = () =>
    [...informer.values()].map(({ namespace, name, uid, value }) => `${namespace}/${name} ${uid} ${value}`).sort();
  /** Resolves when the informer has the expected objects; fails with the difference after a time. */
  const becomes = async (expected: () => readonly string[]) => {
    const over = Promise.withResolvers<void>();
    const look = () => {
      if (JSON.stringify(state()) === JSON.stringify(expected())) over.resolve();
    };
    changed.add(look);
    const timer = setTimeout(() => over.resolve(), PATIENCE);
    look();
    await over.promise;
    clearTimeout(timer);
    changed.delete(look);
    assert.deepEqual(state(), expected());
  };
  informer.start();
  return { informer, troubles, removed, state, becomes };
}
