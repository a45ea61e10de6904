/**
 * The objects in the API that were deployed for Gateways. Informers report the objects; until an informer reports a write of
 * this server, the answer to the write counts.
 *
 * Permissions: the permissions of the client. Rights at the API: `get`, `list` and `watch` of the deployed kinds.
 *
 * @module
 */
import { GATEWAY_NAME_LABEL } from "../../config/spelling/spelling.ts";
import type { DeployedKind } from "../../gateway_api/deploy/types.ts";
import type { Logger } from "../../kernel/log/log.ts";
import { type ApiJson, isApiJson } from "../../orch/client/answer.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { CacheChange } from "../../orch/informer/cache.ts";
import { Informer } from "../../orch/informer/informer.ts";
import { apiVersionOf } from "../../orch/informer/resource.ts";
import { getObject } from "../../orch/resources/objects.ts";
import { DEPLOYED_KIND_NAMES, DEPLOYED_RESOURCES, gatewayOf, metadataOf } from "./resources.ts";

export interface LiveObjectsParts {
  readonly client: ApiClient;
  /** Limits reading to one namespace; empty: all namespaces are read. */
  readonly namespace: string;
  /** The owners of the fields that this server applies. */
  readonly managers: ReadonlySet<string>;
  readonly log: Logger;
  /** Called with the Gateway of each changed object. Must not throw. */
  readonly changed: (namespace: string, gateway: string) => void;
}

export class LiveObjects {
  readonly #parts: LiveObjectsParts;
  readonly #informers: ReadonlyMap<DeployedKind, Informer<ApiJson>>;
  /** Objects as the last write left them, until the informer reports the write. */
  readonly #written = new Map<string, ApiJson>();

  constructor(parts: LiveObjectsParts) {
    this.#parts = parts;
    const { client, namespace, log } = parts;
    this.#informers = new Map(DEPLOYED_KIND_NAMES.map((kind) => {
      const informer = new Informer<ApiJson>(client, {
        ...{ resource: DEPLOYED_RESOURCES[kind], labelSelector: GATEWAY_NAME_LABEL, log },
        ...(namespace === "" ? {} : { namespace }),
        project: (object) => this.#kept(kind, object),
      });
      informer.subscribe((change) => this.#take(kind, change));
      return [kind, informer] as const;
    }));
  }

  /** Begins. Resolves when all objects are known. */
  async start(): Promise<void> {
    for (const informer of this.#informers.values()) informer.start();
    await Promise.all([...this.#informers.values()].map(({ whenSynced }) => whenSynced));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.stop()));
  }

  /** An object with the label of a Gateway; undefined: none is known. */
  known(kind: DeployedKind, namespace: string, name: string): ApiJson | undefined {
    return this.#written.get(`${kind}/${namespace}/${name}`) ??
      this.#informers.get(kind)?.get(namespace, name)?.value;
  }

  /** An object, whatever its labels. Asks the API only if no object is known. */
  async find(kind: DeployedKind, namespace: string, name: string, signal: AbortSignal): Promise<ApiJson | undefined> {
    const known = this.known(kind, namespace, name);
    if (known !== undefined) return known;
    return await getObject(this.#parts.client, { resource: DEPLOYED_RESOURCES[kind], namespace, name }, { signal });
  }

  /** The known objects of a kind. */
  *all(kind: DeployedKind): Iterable<ApiJson & { readonly namespace: string; readonly name: string }> {
    for (const { namespace, name } of this.#informers.get(kind)?.values() ?? []) {
      const value = this.known(kind, namespace, name);
      if (value !== undefined) yield { ...value, namespace, name };
    }
  }

  /** Takes the answer to a write. */
  wrote(kind: DeployedKind, namespace: string, name: string, object: ApiJson): void {
    const known = this.#informers.get(kind)?.get(namespace, name);
    // The informer may have reported the write before its answer came.
    if (known !== undefined && !isOlder(known.version, metadataOf(object).version)) return;
    this.#written.set(`${kind}/${namespace}/${name}`, this.#kept(kind, object));
  }

  #take(kind: DeployedKind, { upserted, removed }: CacheChange<ApiJson>): void {
    const { changed } = this.#parts;
    for (const { namespace, name, version, value } of upserted) {
      const key = `${kind}/${namespace}/${name}`;
      const written = this.#written.get(key);
      if (written !== undefined && !isOlder(version, metadataOf(written).version)) this.#written.delete(key);
      const gateway = gatewayOf(value);
      if (gateway !== undefined) changed(namespace, gateway);
    }
    for (const { namespace, name, value } of removed) {
      this.#written.delete(`${kind}/${namespace}/${name}`);
      const gateway = gatewayOf(value);
      if (gateway !== undefined) changed(namespace, gateway);
    }
  }

  /** The fields of an object that decisions read. Items of a list do not name their kind. */
  #kept(kind: DeployedKind, { metadata, spec, status }: ApiJson): ApiJson {
    const { managedFields, ...rest } = isApiJson(metadata) ? metadata : {};
    const rows = Array.isArray(managedFields) ? managedFields.filter(isApiJson) : [];
    const { managers } = this.#parts;
    const own = rows.filter(({ manager, operation }) => managers.has(`${manager}`) && operation === "Apply");
    return {
      ...{ apiVersion: apiVersionOf(DEPLOYED_RESOURCES[kind]), kind, metadata: { ...rest, managedFields: own } },
      ...(spec === undefined ? {} : { spec }),
      ...(status === undefined || kind !== "Deployment" ? {} : { status }),
    };
  }
}

/**
 * Whether a version is older than another. Versions are whole numbers of any length; other versions count as newer, so
 * that the informer's word counts.
 */
function isOlder(version: string, other: string): boolean {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(other)) return false;
  return BigInt(version) < BigInt(other);
}
