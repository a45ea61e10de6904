/**
 * The duty that exports each service of a cluster to the other clusters. It creates a ServiceExport for each Service;
 * the orchestrator removes the ServiceExport with the Service. Cluster-local services are not exported.
 *
 * A user may remove an export on purpose: the export stays away until another server leads, or until the definition is
 * made anew. An export that is removed with an earlier service of the same name does not count as removed by a user.
 *
 * Permissions: the permissions of the client. Rights at the API: `list`, `watch` and `create` of serviceexports, `list`
 * and `watch` of definitions.
 *
 * @module
 */
import type { FactStore } from "../../config/facts/store.ts";
import type { Fact } from "../../config/facts/types.ts";
import type { ChangeSet } from "../../config/store.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import { type ApiJson, isApiJson } from "../../orch/client/answer.ts";
import { ApiError } from "../../orch/client/api_error.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { KeptObject } from "../../orch/informer/cache.ts";
import { Informer } from "../../orch/informer/informer.ts";
import { type ApiResource, apiVersionOf } from "../../orch/informer/resource.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import { KeyedQueue } from "../../orch/queue/keyed_queue.ts";
import { definitionName, DEFINITIONS } from "../../orch/resources/definitions.ts";
import { createObject, isNamespaceGone } from "../../orch/resources/objects.ts";
import { servedVersions } from "../../orch/resources/served.ts";
import type { SharingApi } from "../settings/settings.ts";

/** Exports written at a time. */
const WORKERS = 5;

/** Milliseconds after which an API without the resource is asked again. */
const AGAIN_MS = 60_000;

const PLURAL = "serviceexports";

/** Inputs of the duty. */
export interface ServiceExportsParts {
  readonly client: ApiClient;
  /** Has the services' objects. */
  readonly facts: FactStore;
  readonly api: Pick<SharingApi, "groups" | "version">;
  /** Whether a service is cluster-local. */
  readonly isLocal: (service: { readonly namespace: string; readonly name: string }) => boolean;
  /**
   * Calls `listener` when the answer of `isLocal` may have changed for any service; returns a function that ends the
   * calls.
   */
  readonly onChange: (listener: () => void) => () => void;
  readonly log: Logger;
  /** Default: the queue is not measured. */
  readonly metrics?: Metrics | undefined;
}

export function serviceExports(parts: ServiceExportsParts): Duty {
  return {
    lock: "mesh-serviceexport-controller-election",
    about: "an export of each service",
    run: async (signal) => {
      for (;;) {
        const resource = await servedResource(parts, signal);
        if (resource !== undefined) await new ServiceExports(resource, parts).run(signal);
        if (signal.aborted) return;
        parts.log.warn("the orchestrator has no definition of exports any more, so no exports are made");
        await parts.client.clock.sleep(AGAIN_MS, signal).catch(() => {});
      }
    },
  };
}

/**
 * Waits for a group that serves the resource, and returns the resource in the first such group. Undefined: the signal
 * aborted before.
 */
async function servedResource(
  { client, api: { groups, version }, log }: ServiceExportsParts,
  signal: AbortSignal,
): Promise<ApiResource | undefined> {
  for (let warned = false; !signal.aborted; warned = true) {
    for (const group of groups) {
      const served = (await servedVersions(client, group, signal)).get(PLURAL);
      if (served?.has(version)) return { group, version, plural: PLURAL, kind: "ServiceExport", namespaced: true };
    }
    if (!warned) {
      const expected = groups.map((group) => `${PLURAL}.${group} ${version}`);
      log.warn("ENABLE_MCS_AUTO_EXPORT: the orchestrator has no definition of exports, so no exports are made", {
        expected,
      });
    }
    await client.clock.sleep(AGAIN_MS, signal).catch(() => {});
  }
  return undefined;
}

/** Uid of the service that owns an export; empty: the export has no owner. */
function ownerOf({ metadata }: ApiJson): string {
  const owners = isApiJson(metadata) ? metadata["ownerReferences"] : [];
  const owner = Array.isArray(owners) ? owners.find((one) => isApiJson(one) && one["kind"] === "Service") : undefined;
  return String(owner?.["uid"] ?? "");
}

/** Services that are new since the last change, even if an earlier service had the same name. */
function newServices({ added, updated, refreshed }: ChangeSet<Fact>): readonly Fact[] {
  const again = [...updated, ...refreshed].filter((update) => uidOf(update.old) !== uidOf(update.new));
  return [...added, ...again.map((update) => update.new)].filter(({ kind }) => kind === "Service");
}

function uidOf(fact: Fact | undefined): string | undefined {
  return fact?.origin.from === "api" ? fact.origin.uid : undefined;
}

/** The duty while the API serves the resource. */
class ServiceExports {
  readonly #parts: ServiceExportsParts;
  readonly #resource: ApiResource;
  /** The exports, with the uids of their services. */
  readonly #exports: Informer<string>;
  readonly #queue: KeyedQueue;
  /**
   * The definition of the resource. When the definition is removed, its exports are removed with it, and such removals
   * are not a user's.
   */
  readonly #definition: Informer<true>;
  readonly #definitionKnown = Promise.withResolvers<void>();
  readonly #unserved = Promise.withResolvers<void>();

  constructor(resource: ApiResource, parts: ServiceExportsParts) {
    this.#parts = parts;
    this.#resource = resource;
    const { client, log, metrics } = parts;
    this.#exports = new Informer<string>(client, {
      ...{ resource, metadataOnly: true, log, project: ownerOf },
      troubled: ({ status }) => status === 404 && this.#unserved.resolve(),
    });
    const what = { resource: DEFINITIONS, fieldSelector: `metadata.name=${definitionName(resource)}` } as const;
    this.#definition = new Informer<true>(client, {
      ...{ ...what, metadataOnly: true, project: () => true },
      // An account without the right to read definitions learns of a removed definition only by the answer 404.
      troubled: ({ forbidden }) => forbidden && this.#definitionKnown.resolve(),
    });
    this.#queue = new KeyedQueue({
      ...{ id: "service exports", workers: WORKERS, clock: client.clock, metrics, outage: { client, log } },
      work: (key, stop) => this.#export(key, stop),
      failed: (service, error, said) =>
        said || log.warn("a service cannot be exported; the server tries again", { service, error }),
    });
  }

  /** Resolves when the signal has aborted, or the API no longer serves the resource. */
  async run(signal: AbortSignal): Promise<void> {
    const { facts, onChange } = this.#parts;
    const ended = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
      void this.#unserved.promise.then(resolve);
    });
    await Promise.race([this.#known(), ended]);
    const [definition] = this.#definition.values();
    const ends = [
      this.#definition.subscribe(({ upserted, removed }) => {
        if (removed.length > 0 || upserted.some(({ uid }) => uid !== definition?.uid)) this.#unserved.resolve();
      }),
      facts.subscribe((changes) => {
        for (const { meta } of newServices(changes)) this.#queue.add(`${meta.namespace}/${meta.name}`);
      }),
      this.#exports.subscribe(({ removed }) => {
        for (const gone of removed) if (this.#isOfEarlier(gone)) this.#queue.add(`${gone.namespace}/${gone.name}`);
      }),
      onChange(() => this.#all()),
    ];
    this.#all();
    await ended;
    for (const end of ends) end();
    await Promise.all([this.#queue.stop(), this.#exports.stop(), this.#definition.stop()]);
  }

  /**
   * Reads the definition before its exports: if the definition were removed meanwhile, the list of exports would be too
   * old.
   */
  async #known(): Promise<void> {
    void this.#definition.whenSynced.then(() => this.#definitionKnown.resolve());
    this.#definition.start();
    await this.#definitionKnown.promise;
    this.#exports.start();
    await this.#exports.whenSynced;
  }

  /** Whether an export was removed together with an earlier service of its name. */
  #isOfEarlier({ namespace, name, value: owner }: KeptObject<string>): boolean {
    const now = uidOf(this.#parts.facts.get("Service", namespace, name));
    return owner !== "" && now !== undefined && owner !== now;
  }

  #all(): void {
    for (const { meta } of this.#parts.facts.list("Service")) this.#queue.add(`${meta.namespace}/${meta.name}`);
  }

  async #export(key: string, signal: AbortSignal): Promise<void> {
    const [namespace = "", name = ""] = key.split("/");
    const { client, facts, isLocal, log } = this.#parts;
    const uid = uidOf(facts.get("Service", namespace, name));
    if (uid === undefined || isLocal({ namespace, name })) return;
    if (this.#exports.get(namespace, name) !== undefined) return;
    const owner = { apiVersion: "v1", kind: "Service", name, uid };
    const place = { resource: this.#resource, namespace, name };
    try {
      await createObject(client, place, { metadata: { ownerReferences: [owner] } }, { signal });
      log.debug("a service is exported", { service: key, apiVersion: apiVersionOf(this.#resource) });
    } catch (error) {
      const isThere = error instanceof ApiError && error.conflict;
      if (!isThere && !isNamespaceGone(error)) throw error;
    }
  }
}
