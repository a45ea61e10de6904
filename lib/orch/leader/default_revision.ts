/**
 * The default revision: the one that the webhook of the tag `default` leads to. It goes before others in elections.
 *
 * Permissions: those of the client. The API's: `list` and `watch` of mutatingwebhookconfigurations of that name.
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

/** Labels of it that name the revision, the first that is there. */
const LABELS = ["mesh.io/rev", "istio.io/rev"];

const RESOURCE: ApiResource = {
  ...{ group: "admissionregistration.k8s.io", version: "v1", namespaced: false },
  ...{ plural: "mutatingwebhookconfigurations", kind: "MutatingWebhookConfiguration" },
};

/** Sign of a holder of another cluster, before its revision. */
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

  /** Its name; empty: there is none, or it is not known yet. */
  get current(): string {
    return this.#informer.get("", NAME)?.value ?? "";
  }

  start(): void {
    this.#informer.start();
  }

  async stop(): Promise<void> {
    await this.#informer.stop();
  }
}

/** The key of a server in the locks of another cluster than its own. */
export function remoteKey(revision: string): string {
  return `${REMOTE}${revision}`;
}

/**
 * Whether a server goes before the holder of a lock: the default revision before others, and within a revision the cluster's
 * own server before one of another cluster.
 *
 * @param own That of the server.
 * @param key That of the holder.
 */
export function goesBeforeKey(own: string, defaultRevision: string, key: string): boolean {
  const revision = revisionOf(own);
  if (revisionOf(key) === revision) return key.startsWith(REMOTE) && !own.startsWith(REMOTE);
  return defaultRevision !== "" && revision === defaultRevision;
}

function revisionOf(key: string): string {
  return key.startsWith(REMOTE) ? key.slice(REMOTE.length) : key;
}
