/**
 * Keeps the webhook configurations of the orchestrator's API up to date. The validating and the mutating webhook share
 * this code.
 *
 * A change is a JSON patch of single fields that first tests the entry's name. When an entry was removed or replaced
 * meanwhile, the patch fails, and the entry is not made again. Fields of other writers stay untouched.
 *
 * Permissions: the permissions of the client. Rights at the API: `list`, `watch` and `patch` of the configurations.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import { type ApiJson, isApiJson } from "../../orch/client/answer.ts";
import type { ApiError } from "../../orch/client/api_error.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { Informer } from "../../orch/informer/informer.ts";
import { type ApiResource, objectPath } from "../../orch/informer/resource.ts";
import { KeyedQueue } from "../../orch/queue/keyed_queue.ts";
import type { TrustBundle } from "../../pki/current.ts";

/** The two sorts of configurations. */
export type WebhookSort = "validating" | "mutating";

/** The fields of a webhook that the keeper reads. */
export interface KeptWebhook {
  readonly name: string;
  /** Base64; empty: none. */
  readonly caBundle: string;
  readonly failurePolicy: string;
  /** Namespace of the service that the API asks; undefined: the API asks a URL. */
  readonly serviceNamespace: string | undefined;
}

/** The fields of a configuration that the keeper reads. */
export interface KeptConfiguration {
  readonly name: string;
  readonly labels: ApiJson;
  /** In the order of the configuration: a patch names a webhook by its index. */
  readonly webhooks: readonly KeptWebhook[];
}

/** How configurations are kept. */
export interface WebhookKeeperOptions {
  readonly client: ApiClient;
  readonly sort: WebhookSort;
  /** Name of the configuration to read. Default: all configurations are read. */
  readonly only?: string;
  /** Roots with which the API verifies the server. While there are no roots, nothing is written. */
  readonly roots: TrustBundle;
  /**
   * Writes the desired fields into a configuration; a failure is tried again.
   *
   * @param caBundle Base64 of the roots; never empty.
   */
  readonly keep: (configuration: KeptConfiguration, caBundle: string, signal: AbortSignal) => Promise<void>;
  readonly failed: (name: string, error: unknown, said: boolean) => void;
  /** Hears of failures to read. Default: nobody does. */
  readonly troubled?: (error: ApiError) => void;
  readonly log: Logger;
  /** Label `queueID` of the queue's metrics. */
  readonly queue: string;
  /** Default: the queue is not measured. */
  readonly queueMetrics?: Metrics | undefined;
}

/** A field of webhooks, and its wanted value. */
export interface WebhookField {
  readonly path: "/clientConfig/caBundle" | "/failurePolicy";
  readonly value: string;
  /** Whether an entry is to be changed. */
  readonly lacks: (webhook: KeptWebhook) => boolean;
}

export class WebhookKeeper {
  readonly #options: WebhookKeeperOptions;
  readonly #configurations: Informer<KeptConfiguration>;
  readonly #queue: KeyedQueue;

  constructor(options: WebhookKeeperOptions) {
    this.#options = options;
    const { client, sort, only, keep, roots, failed, troubled, log, queue, queueMetrics } = options;
    this.#configurations = new Informer<KeptConfiguration>(client, {
      ...{ resource: resourceOf(sort), project: keptConfiguration, log },
      ...(only === undefined ? {} : { fieldSelector: `metadata.name=${only}` }),
      ...(troubled === undefined ? {} : { troubled }),
    });
    this.#queue = new KeyedQueue({
      ...{ id: queue, clock: client.clock, metrics: queueMetrics, failed, outage: { client, log } },
      work: async (name, signal) => {
        const configuration = this.#configurations.get("", name)?.value;
        const caBundle = Buffer.from(roots.current()).toString("base64");
        // With an empty bundle the API would verify the server by the system's roots, and refuse the server.
        if (configuration !== undefined && caBundle !== "") await keep(configuration, caBundle, signal);
      },
    });
  }

  /** Keeps the configurations until the signal aborts, and returns after the last write. */
  async run(signal: AbortSignal): Promise<void> {
    const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    const ends = [
      this.#configurations.subscribe(({ upserted, removed }) => {
        for (const { name } of upserted) this.#queue.add(name);
        for (const { name } of removed) this.#queue.forget(name);
      }),
      this.#options.roots.onChange(() => {
        for (const { name } of this.#configurations.values()) this.#queue.add(name);
      }),
    ];
    this.#configurations.start();
    if (!signal.aborted) await ended;
    for (const end of ends) end();
    await Promise.all([this.#queue.stop(), this.#configurations.stop()]);
  }
}

/**
 * Sets a field of the webhooks that lack the value, in one patch.
 *
 * @returns The number of changed webhooks; 0: nothing was written.
 * @throws {ApiError} when the API refuses; then all webhooks stay unchanged
 */
export async function patchWebhooks(
  { client, sort }: Pick<WebhookKeeperOptions, "client" | "sort">,
  { name, webhooks }: KeptConfiguration,
  { path, value, lacks }: WebhookField,
  signal: AbortSignal,
): Promise<number> {
  const changes = webhooks.flatMap((webhook, index) =>
    lacks(webhook)
      ? [[
        { op: "test", path: `/webhooks/${index}/name`, value: webhook.name },
        { op: "add", path: `/webhooks/${index}${path}`, value },
      ]]
      : []
  );
  if (changes.length === 0) return 0;
  const of = objectPath(resourceOf(sort), "", name);
  await client.tell({ method: "PATCH", path: of, type: "application/json-patch+json", body: changes.flat(), signal });
  return changes.length;
}

function resourceOf(sort: WebhookSort): ApiResource {
  return {
    ...{ group: "admissionregistration.k8s.io", version: "v1", namespaced: false },
    plural: `${sort}webhookconfigurations`,
    kind: sort === "validating" ? "ValidatingWebhookConfiguration" : "MutatingWebhookConfiguration",
  };
}

function keptConfiguration({ metadata, webhooks }: ApiJson): KeptConfiguration {
  const { name, labels } = isApiJson(metadata) ? metadata : {};
  return {
    name: String(name),
    labels: isApiJson(labels) ? labels : {},
    webhooks: (Array.isArray(webhooks) ? webhooks : []).filter(isApiJson).map(keptWebhook),
  };
}

function keptWebhook({ name, clientConfig, failurePolicy }: ApiJson): KeptWebhook {
  const { caBundle, service } = isApiJson(clientConfig) ? clientConfig : {};
  return {
    name: String(name),
    caBundle: String(caBundle ?? ""),
    failurePolicy: String(failurePolicy ?? ""),
    serviceNamespace: isApiJson(service) ? String(service["namespace"]) : undefined,
  };
}
