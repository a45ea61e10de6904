/**
 * Stores what workloads have called in config maps, one for each namespace, in the namespace of the server.
 *
 * Each server writes what the config map lacks, and only then: no server can know what was asked of the others. A write
 * that meets another write is made again after the next pause, with the calls of both. Workloads without a proven
 * account are not stored, so that a client without a proof makes no config maps.
 *
 * Permissions: the permissions of the client. Rights of the account: `list`, `watch`, `create` and `patch` of config maps
 * in the namespace of the server.
 *
 * @module
 */
import { type ApiJson, isApiJson } from "../../orch/client/answer.ts";
import { ApiError } from "../../orch/client/api_error.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { Informer } from "../../orch/informer/informer.ts";
import { LOCK_RESOURCES } from "../../orch/leader/locks.ts";
import { createObject, type ObjectPlace, patchObject } from "../../orch/resources/objects.ts";
import type { CallShelf } from "./call_keeper.ts";
import type { CallMemory } from "./call_memory.ts";
import { callsText, isStale, readCalls, type StoredWorkload } from "./stored_calls.ts";

/** Label of the config maps. The label's value has no meaning. */
const LABEL = "internal.mesh.io/calls";

/** Begin of the names of the config maps. The namespace of the workloads follows. */
const BEGIN = "mesh-calls-";

/** Entry of a config map. */
const ENTRY = "calls";

/** Most characters of an entry. A config map holds 1 MiB. */
const MOST = 900_000;

/** How long the server waits for the stored calls before it goes on without them, in milliseconds. */
const WAIT = 5000;

export class CallMaps implements CallShelf {
  readonly place: string;
  readonly #client: ApiClient;
  readonly #namespace: string;
  readonly #informer: Informer<readonly StoredWorkload[]>;

  /** @param namespace The namespace of the server. */
  constructor(client: ApiClient, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
    this.place = `config maps ${namespace}/${BEGIN}*`;
    this.#informer = new Informer(client, {
      ...{ resource: LOCK_RESOURCES.ConfigMap, namespace, labelSelector: LABEL, project: readMap },
    });
  }

  async start(take: (stored: readonly StoredWorkload[]) => void): Promise<void> {
    this.#informer.subscribe(({ upserted }) => {
      for (const { value } of upserted) take(value);
    });
    this.#informer.start();
    const waited = Promise.withResolvers<void>();
    const cancel = this.#client.clock.after(WAIT, waited.resolve);
    await Promise.race([this.#informer.whenSynced, waited.promise]);
    cancel();
    if (!this.#informer.synced) throw new Error(this.#informer.trouble ?? "no answer of the API yet");
  }

  async save(memory: CallMemory, namespaces: readonly string[], signal: AbortSignal): Promise<void> {
    // Before the first list the server does not know what the others have stored.
    if (!this.#informer.synced) throw new Error(this.#informer.trouble ?? "no answer of the API yet");
    let failure: ApiError | undefined;
    for (const namespace of namespaces) {
      try {
        await this.#save(memory, namespace, signal);
      } catch (error) {
        // An answer about one config map says nothing about the others; without an answer nobody waits for all of them.
        if (!(error instanceof ApiError) || error.status === undefined) throw error;
        failure = error;
      }
    }
    if (failure !== undefined) throw failure;
  }

  async #save(memory: CallMemory, namespace: string, signal: AbortSignal): Promise<void> {
    const place: ObjectPlace = {
      ...{ resource: LOCK_RESOURCES.ConfigMap, namespace: this.#namespace, name: `${BEGIN}${namespace}` },
    };
    const there = this.#informer.get(place.namespace, place.name);
    const now = [...memory.workloads(namespace)].filter(({ workload }) => workload.account !== "");
    if (!isStale(there?.value ?? [], now, memory.lifetime)) return;
    const data = { [ENTRY]: callsText(now, MOST) };
    const labels = { [LABEL]: "" };
    if (there === undefined) await createObject(this.#client, place, { metadata: { labels }, data }, { signal });
    else await patchObject(this.#client, place, { metadata: { resourceVersion: there.version }, data }, { signal });
  }

  async stop(): Promise<void> {
    await this.#informer.stop();
  }
}

/** Only calls of the namespace in the name count. A config map of another form counts as empty, and is written anew. */
function readMap({ metadata, data }: ApiJson): readonly StoredWorkload[] {
  const text = isApiJson(data) ? data[ENTRY] : undefined;
  const name = isApiJson(metadata) ? metadata["name"] : undefined;
  const read = typeof text === "string" ? readCalls(text, 2 * MOST) ?? [] : [];
  return read.filter(({ workload: { namespace, account } }) => name === `${BEGIN}${namespace}` && account !== "");
}
