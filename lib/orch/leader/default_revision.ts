/**
 * The default revision: the revision to which the webhook of the tag `default` leads, otherwise `default`. Servers of
 * the default revision have precedence in elections.
 *
 * Permissions: the permissions of the client. Rights at the API: `list` and `watch` of mutatingwebhookconfigurations of
 * that name.
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import { isApiJson } from "../client/answer.ts";
import type { ApiClient } from "../client/client.ts";
import { Informer } from "../informer/informer.ts";
import type { ApiResource } from "../informer/resource.ts";

/** Name of the webhook's configuration. */
const NAME = "mesh-revision-tag-default";

/** The default revision where no webhook names a revision. */
const WITHOUT_TAG = "default";

/** Labels with the name of the revision. The first present label counts. */
const LABELS = ["mesh.io/rev", "istio.io/rev"];

const RESOURCE: ApiResource = {
  ...{ group: "admissionregistration.k8s.io", version: "v1", namespaced: false },
  ...{ plural: "mutatingwebhookconfigurations", kind: "MutatingWebhookConfiguration" },
};

/** Marks a holder from another cluster, in front of its revision. */
const REMOTE = "^";

export class DefaultRevision {
  readonly #informer: Informer<string>;

  constructor(client: ApiClient, log: Logger) {
    this.#informer = new Informer<string>(client, {
      ...{ resource: RESOURCE, metadataOnly: true, fieldSelector: `metadata.name=${NAME}`, log },
      project: ({ metadata }) => {
        const labels = isApiJson(metadata) && isApiJson(metadata["labels"]) ? metadata["labels"] : {};
        return String(LABELS.map((label) => labels[label]).find((value) => typeof value === "string") ?? "");
      },
    });
  }

  /** Name of the default revision; empty: the name is not known yet. */
  get current(): string {
    const named = this.#informer.get("", NAME)?.value ?? "";
    return named === "" && this.#informer.synced ? WITHOUT_TAG : named;
  }

  start(): void {
    this.#informer.start();
  }

  async stop(): Promise<void> {
    await this.#informer.stop();
  }
}

/** The key of a server in the locks of a cluster other than its own. */
export function remoteKey(revision: string): string {
  return `${REMOTE}${revision}`;
}

/**
 * Whether a server has precedence over the holder of a lock. The default revision has precedence over other revisions;
 * within a revision, the cluster's own server has precedence over a server of another cluster.
 *
 * @param own Key of the server.
 * @param key Key of the holder.
 */
export function goesBeforeKey(own: string, defaultRevision: string, key: string): boolean {
  const revision = revisionOf(own);
  if (revisionOf(key) === revision) return key.startsWith(REMOTE) && !own.startsWith(REMOTE);
  return defaultRevision !== "" && revision === defaultRevision;
}

function revisionOf(key: string): string {
  return key.startsWith(REMOTE) ? key.slice(REMOTE.length) : key;
}
