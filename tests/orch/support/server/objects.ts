/**
 * Objects of the orchestrator's API, made, changed and removed by tests.
 *
 * Permissions: net (the API server).
 *
 * @module
 */
import type { ApiClient } from "../../../../lib/orch/client/client.ts";
import type { ApiJson } from "../../../../lib/orch/client/answer.ts";
import { until } from "../../../patience.ts";

/** An object to be written. */
export interface ObjectDraft {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name?: string;
    readonly generateName?: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** An object as the server stores it. */
export interface StoredObject extends ObjectDraft {
  readonly metadata: ObjectDraft["metadata"] & {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
}

/** The identity of an object. */
export type ObjectId = Pick<ObjectDraft, "apiVersion" | "kind"> & {
  readonly metadata: { readonly name: string; readonly namespace?: string };
};

/** The fields of a definition that tests read. */
interface DefinitionSpec {
  readonly group: string;
  readonly names: { readonly plural: string };
  readonly versions: readonly { readonly name: string; readonly served: boolean }[];
}

/** The owner of the fields that tests apply. */
const MANAGER = "test";

/** Every method fails with an `ApiError` when the server refuses. */
export class ApiObjects {
  readonly #client: ApiClient;
  /** Resources by API version and kind: the server is asked once for each version. */
  readonly #resources = new Map<string, string>();

  constructor(client: ApiClient) {
    this.#client = client;
  }

  async create(draft: ObjectDraft): Promise<StoredObject> {
    return stored(await this.#client.json({ method: "POST", path: await this.#collection(draft), body: draft }));
  }

  async get(id: ObjectId): Promise<StoredObject | undefined> {
    const found = await this.#client.get(await this.path(id));
    return found === undefined ? undefined : stored(found);
  }

  async list(of: Pick<ObjectId, "apiVersion" | "kind">, namespace?: string): Promise<readonly StoredObject[]> {
    const metadata = { name: "", ...namespace === undefined ? {} : { namespace } };
    const { items } = await this.#client.json({ path: await this.#collection({ ...of, metadata }) });
    return items as StoredObject[];
  }

  /** Makes an object, or takes over the fields in the draft: server-side apply. */
  async apply(draft: ObjectDraft & ObjectId, manager = MANAGER): Promise<StoredObject> {
    const path = `${await this.path(draft)}?fieldManager=${manager}&force=true`;
    return stored(
      await this.#client.json({ method: "PATCH", path, body: draft, type: "application/apply-patch+yaml" }),
    );
  }

  /**
   * Merges fields into an object (RFC 7396).
   *
   * @param subresource `status`, for the fields written by programs alone
   */
  async patch(id: ObjectId, change: ApiJson, subresource?: "status"): Promise<StoredObject> {
    const path = await this.path(id) + (subresource === undefined ? "" : `/${subresource}`);
    return stored(
      await this.#client.json({ method: "PATCH", path, body: change, type: "application/merge-patch+json" }),
    );
  }

  /** Removes an object; pods at once, because no kubelet would confirm. */
  async delete(id: ObjectId): Promise<void> {
    await this.#client.tell({ method: "DELETE", path: await this.path(id), body: { gracePeriodSeconds: 0 } });
  }

  /** Applies a definition of a kind. Resolves when objects of the kind can be made. */
  async define(definition: ObjectDraft & ObjectId): Promise<void> {
    await this.apply(definition);
    const { group, versions, names } = definition["spec"] as DefinitionSpec;
    for (const { name } of versions.filter(({ served }) => served)) {
      const path = `/apis/${group}/${name}/${names.plural}?limit=1`;
      // The condition "Established" comes before the server answers, and an answer may come before the list of kinds.
      const isServed = async () =>
        await this.#client.get(path) !== undefined && await this.#lists(`/apis/${group}/${name}`, names.plural);
      await until(`${path} is served`, isServed, 50);
    }
  }

  async #lists(root: string, plural: string): Promise<boolean> {
    const { resources = [] } = await this.#client.get(root) as { resources?: { name: string }[] } | undefined ?? {};
    return resources.some(({ name }) => name === plural);
  }

  /** The path of an object. */
  async path(id: ObjectId): Promise<string> {
    return `${await this.#collection(id)}/${id.metadata.name}`;
  }

  async #collection({ apiVersion, kind, metadata: { namespace } }: ObjectDraft): Promise<string> {
    const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const key = `${apiVersion} ${kind}`;
    if (!this.#resources.has(key)) {
      const { resources } = await this.#client.json({ path: root });
      for (const { kind, name } of resources as { kind: string; name: string }[]) {
        if (!name.includes("/")) this.#resources.set(`${apiVersion} ${kind}`, name);
      }
    }
    const resource = this.#resources.get(key);
    if (resource === undefined) throw new Error(`${key}: the server has no such resource`);
    return `${root}${namespace === undefined ? "" : `/namespaces/${namespace}`}/${resource}`;
  }
}

function stored(json: ApiJson): StoredObject {
  return json as unknown as StoredObject;
}
