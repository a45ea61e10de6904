/**
 * One config map of the orchestrator's API, watched.
 *
 * Permissions: those of the client. The API's: `list` and `watch` of config maps of that namespace.
 *
 * @module
 */
import type { Kernel } from "../../kernel/kernel.ts";
import { type ApiJson, isApiJson } from "../../orch/client/answer.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { Informer } from "../../orch/informer/informer.ts";
import { LOCK_RESOURCES } from "../../orch/leader/locks.ts";

/** The place of a config map. */
export interface ConfigMapPlace {
  readonly namespace: string;
  readonly name: string;
}

/** Watches a config map until the kernel stops, and keeps the value that `entries` makes of it. */
export function watchConfigMap<T>(
  client: ApiClient,
  { namespace, name }: ConfigMapPlace,
  entries: (object: ApiJson) => T,
  kernel: Pick<Kernel, "log" | "stopper">,
): Informer<T> {
  const informer = new Informer<T>(client, {
    ...{ resource: LOCK_RESOURCES.ConfigMap, namespace, fieldSelector: `metadata.name=${name}` },
    ...{ log: kernel.log.scope("orch"), project: entries },
  });
  // Before the API is there too, a stop must not wait for it.
  kernel.stopper.add(`config map ${name}`, () => informer.stop());
  informer.start();
  return informer;
}

/** The text of an entry; undefined: there is none. */
export function configMapEntry({ data }: ApiJson, key: string): string | undefined {
  const text = isApiJson(data) ? data[key] : undefined;
  return typeof text === "string" ? text : undefined;
}
