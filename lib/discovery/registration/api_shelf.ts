/**
 * Registered entries in the orchestrator, in the spelling of their group.
 *
 * Permissions: the permissions of the client. Rights at the API: `get`, `create`, `patch` and `delete` of workload
 * entries.
 *
 * @module
 */
import { inIstioSpelling, istioKey } from "../../config/spelling/istio.ts";
import { ownKey } from "../../config/spelling/spelling.ts";
import type { ConfigObject } from "../../config/types.ts";
import { type ApiJson, isApiJson } from "../../orch/client/answer.ts";
import { ApiError } from "../../orch/client/api_error.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { ApiResource } from "../../orch/informer/resource.ts";
import { createObject, deleteObject, getObject, type ObjectPlace, patchObject } from "../../orch/resources/objects.ts";
import type { AnnotationChange } from "./connection.ts";
import { EntryConflict, type EntryPlace, type EntryShelf, type ShelvedEntry } from "./shelf.ts";

/** API version of workload entries in this project's definitions. */
export const OWN_VERSION = "networking.mesh.io/v1";

export class ApiShelf implements EntryShelf {
  readonly #client: ApiClient;
  readonly #resource: ApiResource;
  readonly #inIstioSpelling: boolean;

  /** @param apiVersion API version of the entry's group, such as `networking.mesh.io/v1` */
  constructor(client: ApiClient, apiVersion: string) {
    this.#client = client;
    this.#resource = entryResource(apiVersion);
    this.#inIstioSpelling = this.#resource.group.endsWith("istio.io");
  }

  async read(place: EntryPlace, signal: AbortSignal): Promise<ShelvedEntry | undefined> {
    const object = await getObject(this.#client, this.#at(place), { signal });
    return object === undefined ? undefined : readShelved(object);
  }

  async create({ meta, spec, origin }: ConfigObject<"WorkloadEntry">, signal: AbortSignal): Promise<void> {
    const parent = origin.from === "derived" ? origin.parent : undefined;
    const owner = {
      apiVersion: `${this.#resource.group}/${this.#resource.version}`,
      kind: "WorkloadGroup",
      name: origin.from === "derived" ? origin.of.split("/").at(-1) : "",
      uid: parent?.from === "api" ? parent.uid : "",
      controller: true,
    };
    const body = {
      metadata: {
        labels: this.#spelled(meta.labels),
        annotations: this.#spelled(meta.annotations),
        // A removed group takes its entries along.
        ...(owner.uid === "" ? {} : { ownerReferences: [owner] }),
      },
      spec: this.#spelled(spec),
    };
    await orConflict(createObject(this.#client, this.#at(meta), body, { signal }));
  }

  async annotate(
    place: EntryPlace,
    { version }: ShelvedEntry,
    change: AnnotationChange,
    signal: AbortSignal,
  ): Promise<void> {
    const annotations = Object.fromEntries(
      Object.entries(change).map(([key, value]) => [this.#inIstioSpelling ? istioKey(key) : key, value ?? null]),
    );
    const body = { metadata: { resourceVersion: version, annotations } };
    await orConflict(patchObject(this.#client, this.#at(place), body, { signal }));
  }

  async remove(place: EntryPlace, { uid, version }: ShelvedEntry, signal: AbortSignal): Promise<boolean> {
    const only = { uid, resourceVersion: version };
    return await orConflict(deleteObject(this.#client, this.#at(place), only, { signal }));
  }

  #at({ namespace, name }: EntryPlace): ObjectPlace {
    return { resource: this.#resource, namespace, name };
  }

  #spelled(tree: unknown): unknown {
    return this.#inIstioSpelling ? inIstioSpelling(tree) : tree;
  }
}

/** The resource of workload entries in a version: `networking.istio.io/v1`. */
function entryResource(apiVersion: string): ApiResource {
  const [group = "", version = ""] = apiVersion.split("/");
  return { group, version, plural: "workloadentries", kind: "WorkloadEntry", namespaced: true };
}

function readShelved({ metadata }: ApiJson): ShelvedEntry {
  const meta = isApiJson(metadata) ? metadata : {};
  const text = (value: unknown) => typeof value === "string" ? value : "";
  const annotations = isApiJson(meta["annotations"]) ? meta["annotations"] : {};
  return {
    annotations: Object.fromEntries(Object.entries(annotations).map(([key, value]) => [ownKey(key), text(value)])),
    uid: text(meta["uid"]),
    version: text(meta["resourceVersion"]),
  };
}

async function orConflict<T>(written: Promise<T>): Promise<T> {
  try {
    return await written;
  } catch (error) {
    if (error instanceof ApiError && (error.conflict || error.status === 404)) {
      throw new EntryConflict(error.message, { cause: error });
    }
    throw error;
  }
}
