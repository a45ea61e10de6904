/**
 * The secrets that describe remote clusters: those of one namespace with label `mesh/multiCluster=true`, or Istio's
 * `istio/multiCluster=true`.
 *
 * Permissions: those of the client. The API's: `list` and `watch` of secrets in that namespace.
 *
 * @module
 */
import { isApiJson } from "../../orch/client/answer.ts";
import type { ApiJson } from "../../orch/client/answer.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { Informer } from "../../orch/informer/informer.ts";
import type { ApiResource } from "../../orch/informer/resource.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { ClusterSecret } from "./wanted.ts";

const SECRETS: ApiResource = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };

const LABELS = ["mesh/multiCluster=true", "istio/multiCluster=true"];

export class ClusterSecrets {
  /** Resolves when all that are there were read once. */
  readonly whenSynced: Promise<void>;
  readonly #informers: readonly Informer<ClusterSecret>[];

  constructor(client: ApiClient, namespace: string, log: Logger) {
    this.#informers = LABELS.map((labelSelector) =>
      new Informer(client, { resource: SECRETS, namespace, labelSelector, log, project: readSecret })
    );
    this.whenSynced = Promise.all(this.#informers.map((one) => one.whenSynced)).then(() => {});
  }

  /** Begins; `changed` is called whenever some have changed. */
  start(changed: () => void): void {
    for (const informer of this.#informers) {
      informer.subscribe(changed);
      informer.start();
    }
    // An empty list is no change.
    void this.whenSynced.then(changed);
  }

  /** Why the API does not give them at the moment; undefined: it does. */
  get trouble(): string | undefined {
    return this.#informers.map((one) => one.trouble).find((trouble) => trouble !== undefined);
  }

  /** Those that are there, each once; none until all were read, because the rest may decide which of them count. */
  all(): ClusterSecret[] {
    if (!this.#informers.every((one) => one.synced)) return [];
    const byName = new Map<string, ClusterSecret>();
    for (const informer of this.#informers) {
      for (const { value } of informer.values()) byName.set(value.name, value);
    }
    return [...byName.values()];
  }

  async stop(): Promise<void> {
    await Promise.all(this.#informers.map((one) => one.stop()));
  }
}

function readSecret({ metadata, data }: ApiJson): ClusterSecret {
  const { namespace, name, creationTimestamp } = isApiJson(metadata) ? metadata : {};
  const entries = isApiJson(data) ? Object.entries(data) : [];
  return {
    name: `${namespace}/${name}`,
    created: Date.parse(String(creationTimestamp)) || 0,
    entries: new Map(entries.map(([id, value]) => [id, textOf(value)])),
  };
}

function textOf(value: unknown): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.fromBase64(String(value)));
  } catch {
    return undefined;
  }
}
