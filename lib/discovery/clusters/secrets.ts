/**
 * The secrets that describe remote clusters: secrets of one namespace with label `mesh/multiCluster=true`, or Istio's
 * `istio/multiCluster=true`.
 *
 * Permissions: the permissions of the client. Rights at the API: `list` and `watch` of secrets in that namespace.
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

/** The secrets of remote clusters, kept up to date. */
export class ClusterSecrets {
  /** Resolves when every present secret has been read once. */
  readonly whenSynced: Promise<void>;
  readonly #informers: readonly Informer<ClusterSecret>[];

  constructor(client: ApiClient, namespace: string, log: Logger) {
    this.#informers = LABELS.map((labelSelector) =>
      new Informer(client, { resource: SECRETS, namespace, labelSelector, log, project: readSecret })
    );
    this.whenSynced = Promise.all(this.#informers.map((one) => one.whenSynced)).then(() => {});
  }

  /** Begins. `changed` is called after every change. */
  start(changed: () => void): void {
    for (const informer of this.#informers) {
      informer.subscribe(changed);
      informer.start();
    }
    // An empty list produces no change.
    void this.whenSynced.then(changed);
  }

  /** Why the API does not give the secrets at the moment; undefined: there is no trouble. */
  get trouble(): string | undefined {
    return this.#informers.map((one) => one.trouble).find((trouble) => trouble !== undefined);
  }

  /**
   * The present secrets, each once. The list is empty until all secrets were read, because a later secret may decide
   * which secret counts.
   */
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
