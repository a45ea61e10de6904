/**
 * A watched config map of the orchestrator's API.
 *
 * Permissions: the permissions of the client. Rights at the API: `list` and `watch` of config maps of the namespace.
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

/** Watches a config map until the kernel stops. Keeps the value that `entries` reads from the config map. */
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
  // Registered before the first answer: a stop must not wait for an absent API.
  kernel.stopper.add(`config map ${name}`, () => informer.stop());
  informer.start();
  return informer;
}

/** The text of an entry; undefined: the config map has no such entry. */
export function configMapEntry({ data }: ApiJson, key: string): string | undefined {
  const text = isApiJson(data) ? data[key] : undefined;
  return typeof text === "string" ? text : undefined;
}
