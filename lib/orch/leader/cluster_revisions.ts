/**
 * The revisions of the cluster: tags and the revisions that they lead to. The tag `default` leads to the default revision.
 *
 * Permissions: the permissions of the client. Rights at the API: `list` and `watch` of mutatingwebhookconfigurations.
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import { isApiJson } from "../client/answer.ts";
import type { ApiClient } from "../client/client.ts";
import { Informer } from "../informer/informer.ts";
import type { ApiResource } from "../informer/resource.ts";

const TAG = "mesh.io/tag";
const REVISION = "mesh.io/rev";

/** The webhook configurations of tags. */
const RESOURCE: ApiResource = {
  ...{ group: "admissionregistration.k8s.io", version: "v1", namespaced: false },
  ...{ plural: "mutatingwebhookconfigurations", kind: "MutatingWebhookConfiguration" },
};

/** The revisions that are known to a server. */
export interface TaggedRevisions {
  /** `REVISION`; empty: `default`. */
  readonly own: string;
  /** The default revision. */
  readonly default: string;
  /** Revisions by tag. */
  readonly tags: ReadonlyMap<string, string>;
}

/** A tag and its revision. */
interface Tag {
  readonly tag: string;
  readonly revision: string;
}

export class ClusterRevisions {
  readonly #tags: Informer<Tag>;
  readonly #own: string;
  #known: TaggedRevisions | undefined;

  /** @param own `REVISION`. @param changed Called after each change of tags. Must not throw. */
  constructor(client: ApiClient, own: string, changed: () => void, log: Logger) {
    this.#own = own;
    this.#tags = new Informer<Tag>(client, {
      ...{ resource: RESOURCE, metadataOnly: true, labelSelector: `${TAG},${REVISION}`, log },
      project: ({ metadata }) => {
        const labels = isApiJson(metadata) && isApiJson(metadata["labels"]) ? metadata["labels"] : {};
        return { tag: String(labels[TAG]), revision: String(labels[REVISION]) };
      },
    });
    this.#tags.subscribe(() => {
      this.#known = undefined;
      changed();
    });
  }

  /** The revisions as last reported. */
  get known(): TaggedRevisions {
    if (this.#known !== undefined) return this.#known;
    const tags = new Map([...this.#tags.values()].map(({ value: { tag, revision } }) => [tag, revision]));
    return this.#known = { own: this.#own, default: tags.get("default") ?? "default", tags };
  }

  /** Begins. Resolves when the tags are known. */
  async start(): Promise<void> {
    this.#tags.start();
    await this.#tags.whenSynced;
  }

  async stop(): Promise<void> {
    await this.#tags.stop();
  }
}
