/**
 * The duty that puts the mesh's root certificates into every namespace, as a config map. Agents read the config map to
 * verify the server.
 *
 * Permissions: the permissions of the client. Rights at the API: `list`, `watch`, `create` and `patch` of config maps.
 *
 * @module
 */
import type { FactStore } from "../../config/facts/store.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import { isApiJson } from "../../orch/client/answer.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { Informer } from "../../orch/informer/informer.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import { LOCK_RESOURCES } from "../../orch/leader/locks.ts";
import { KeyedQueue } from "../../orch/queue/keyed_queue.ts";
import { createObject, isNamespaceGone, patchObject } from "../../orch/resources/objects.ts";
import type { TrustBundle } from "../../pki/current.ts";

/** Key of the config map. */
const KEY = "root-cert.pem";

/** Label of config maps that the mesh maintains. */
const LABEL = "mesh.io/config";

/** System namespaces without mesh workloads. `kube-system` is not listed: the node plugin runs there. */
const WITHOUT = new Set(["kube-public", "kube-node-lease", "local-path-storage"]);

/** Config maps written at a time. */
const WORKERS = 5;

/** The namespaces that get roots. */
export interface RootMapNamespaces {
  /** Whether a namespace is part of the mesh. */
  readonly has: (namespace: string) => boolean;
  /**
   * Calls `listener` when the answer of `has` may have changed for any namespace; returns a function that ends the
   * calls.
   */
  readonly onChange: (listener: () => void) => () => void;
}

/** Inputs of the duty. */
export interface RootMapsParts {
  readonly client: ApiClient;
  /** Has the namespaces' objects. */
  readonly facts: FactStore;
  readonly namespaces: RootMapNamespaces;
  readonly roots: TrustBundle;
  /** Name of the config maps (`PILOT_CA_CERT_CONFIGMAP`). */
  readonly name: string;
  readonly log: Logger;
  /** Default: the queue is not measured. */
  readonly metrics?: Metrics | undefined;
}

interface RootMap {
  readonly roots: string;
  readonly labelled: boolean;
}

export function rootMaps(parts: RootMapsParts): Duty {
  return {
    lock: "mesh-namespace-controller-election",
    about: `config map ${parts.name} in every namespace`,
    run: (signal) => new RootMaps(parts).run(signal),
  };
}

/** One term of the duty. */
class RootMaps {
  readonly #parts: RootMapsParts;
  readonly #maps: Informer<RootMap>;
  readonly #queue: KeyedQueue;

  constructor(parts: RootMapsParts) {
    this.#parts = parts;
    const { client, name, log, metrics } = parts;
    this.#maps = new Informer<RootMap>(client, {
      ...{ resource: LOCK_RESOURCES.ConfigMap, fieldSelector: `metadata.name=${name}`, log },
      project: ({ metadata, data }) => ({
        roots: isApiJson(data) ? String(data[KEY] ?? "") : "",
        labelled: isApiJson(metadata) && isApiJson(metadata["labels"]) && metadata["labels"][LABEL] === "true",
      }),
    });
    this.#queue = new KeyedQueue({
      ...{ id: "root certificates", workers: WORKERS, clock: client.clock, metrics, outage: { client, log } },
      work: (namespace, stop) => this.#write(namespace, stop),
      failed: (namespace, error, said) =>
        said || log.warn("the roots cannot be written; the server tries again", { namespace, name, error }),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { facts, namespaces, roots } = this.#parts;
    const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    this.#maps.start();
    const ends = [
      this.#maps.subscribe(({ upserted, removed }) => {
        for (const { namespace } of [...upserted, ...removed]) this.#queue.add(namespace);
      }),
      facts.subscribe(({ added, updated }) => {
        for (const { kind, meta } of [...added, ...updated.map((update) => update.new)]) {
          if (kind === "Namespace") this.#queue.add(meta.name);
        }
      }),
      namespaces.onChange(() => this.#all()),
      roots.onChange(() => this.#all()),
    ];
    if (!signal.aborted) await Promise.race([this.#maps.whenSynced, ended]);
    if (!signal.aborted) {
      this.#all();
      await ended;
    }
    for (const end of ends) end();
    await Promise.all([this.#queue.stop(), this.#maps.stop()]);
  }

  #all(): void {
    for (const { meta } of this.#parts.facts.list("Namespace")) this.#queue.add(meta.name);
  }

  /** Writes the wanted roots into the config map of a namespace. Other entries stay. */
  async #write(namespace: string, signal: AbortSignal): Promise<void> {
    const { client, facts, namespaces, name } = this.#parts;
    const roots = this.#parts.roots.current();
    if (roots === "" || !this.#maps.synced || facts.get("Namespace", "", namespace) === undefined) return;
    if (WITHOUT.has(namespace) || !namespaces.has(namespace)) return;
    const there = this.#maps.get(namespace, name)?.value;
    if (there?.roots === roots && there.labelled) return;
    const place = { resource: LOCK_RESOURCES.ConfigMap, namespace, name };
    const body = { metadata: { labels: { [LABEL]: "true" } }, data: { [KEY]: roots } };
    try {
      if (there === undefined) await createObject(client, place, body, { signal });
      else await patchObject(client, place, body, { signal });
    } catch (error) {
      if (!isNamespaceGone(error)) throw error;
    }
  }
}
