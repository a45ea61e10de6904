/**
 * The duty that exports each service of a cluster to the others: an object of kind ServiceExport for each Service, which
 * the orchestrator removes with the Service. Services that are kept in their cluster are not exported.
 *
 * An export that somebody removes stays away until another server leads: it may be meant so.
 *
 * Permissions: those of the client. The API's: `list`, `watch` and `create` of serviceexports.
 *
 * @module
 */
import type { FactStore } from "../../config/facts/store.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import { ApiError } from "../../orch/client/api_error.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { Informer } from "../../orch/informer/informer.ts";
import { type ApiResource, apiVersionOf } from "../../orch/informer/resource.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import { KeyedQueue } from "../../orch/queue/keyed_queue.ts";
import { createObject } from "../../orch/resources/objects.ts";
import { servedVersions } from "../../orch/resources/served.ts";
import type { SharingApi } from "./fact_feeds.ts";

/** Exports written at a time. */
const WORKERS = 5;

/** Time after which an API without the resource is asked again, milliseconds. */
const AGAIN_MS = 60_000;

const PLURAL = "serviceexports";

/** What the duty is made of. */
export interface ServiceExportsParts {
  readonly client: ApiClient;
  /** Has the services' objects. */
  readonly facts: FactStore;
  readonly api: Pick<SharingApi, "groups" | "version">;
  /** Whether a service is kept in its cluster. */
  readonly isLocal: (service: { readonly namespace: string; readonly name: string }) => boolean;
  /** Calls `listener` when that may be another answer for any of them; returns what ends that. */
  readonly onChange: (listener: () => void) => () => void;
  readonly log: Logger;
  /** Default: its queue is not measured. */
  readonly metrics?: Metrics | undefined;
}

/** See the module. */
export function serviceExports(parts: ServiceExportsParts): Duty {
  return {
    lock: "mesh-serviceexport-controller-election",
    about: "an export of each service",
    run: async (signal) => {
      const resource = await servedResource(parts, signal);
      if (resource !== undefined) await new ServiceExports(resource, parts).run(signal);
    },
  };
}

/** The resource in the first group that serves it, as soon as one does. Undefined: the signal aborted before. */
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
      log.warn("ENABLE_MCS_AUTO_EXPORT: the orchestrator has no definition of exports, so none are made", { expected });
    }
    await client.clock.sleep(AGAIN_MS, signal).catch(() => {});
  }
  return undefined;
}

/** One term of the duty. */
class ServiceExports {
  readonly #parts: ServiceExportsParts;
  readonly #resource: ApiResource;
  readonly #exports: Informer<true>;
  readonly #queue: KeyedQueue;

  constructor(resource: ApiResource, parts: ServiceExportsParts) {
    this.#parts = parts;
    this.#resource = resource;
    const { client, log, metrics } = parts;
    this.#exports = new Informer<true>(client, { resource, metadataOnly: true, log, project: () => true });
    this.#queue = new KeyedQueue({
      ...{ id: "service exports", workers: WORKERS, clock: client.clock, metrics },
      work: (key, stop) => this.#export(key, stop),
      failed: (service, error) => log.warn("a service cannot be exported; it is tried again", { service, error }),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { facts, onChange } = this.#parts;
    const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    this.#exports.start();
    if (!signal.aborted) await Promise.race([this.#exports.whenSynced, ended]);
    const ends = [
      facts.subscribe(({ added }) => {
        for (const { kind, meta } of added) if (kind === "Service") this.#queue.add(`${meta.namespace}/${meta.name}`);
      }),
      onChange(() => this.#all()),
    ];
    this.#all();
    if (!signal.aborted) await ended;
    for (const end of ends) end();
    await Promise.all([this.#queue.stop(), this.#exports.stop()]);
  }

  #all(): void {
    for (const { meta } of this.#parts.facts.list("Service")) this.#queue.add(`${meta.namespace}/${meta.name}`);
  }

  async #export(key: string, signal: AbortSignal): Promise<void> {
    const [namespace = "", name = ""] = key.split("/");
    const { client, facts, isLocal, log } = this.#parts;
    const service = facts.get("Service", namespace, name);
    if (service?.origin.from !== "api" || isLocal({ namespace, name })) return;
    if (this.#exports.get(namespace, name) !== undefined) return;
    const owner = { apiVersion: "v1", kind: "Service", name, uid: service.origin.uid };
    const place = { resource: this.#resource, namespace, name };
    try {
      await createObject(client, place, { metadata: { ownerReferences: [owner] } }, { signal });
      log.debug("a service is exported", { service: key, apiVersion: apiVersionOf(this.#resource) });
    } catch (error) {
      // Somebody else was faster, or the namespace is leaving.
      if (!(error instanceof ApiError && (error.conflict || error.status === 404))) throw error;
    }
  }
}
