/**
 * Keeps the webhooks of configurations in the orchestrator's API: the common part of the validating and the mutating
 * ones.
 *
 * A change is a JSON patch of single fields that first tests the entry's name. An entry that was removed, or that is
 * another one by now, therefore makes the patch fail and is never made again; fields of others stay theirs.
 *
 * Permissions: those of the client. The API's: `list`, `watch` and `patch` of the configurations.
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

/** One webhook of a configuration, as far as it is kept. */
export interface KeptWebhook {
  readonly name: string;
  /** Base64; empty: none. */
  readonly caBundle: string;
  readonly failurePolicy: string;
  /** Namespace of the service that is asked; undefined: it is asked by a URL. */
  readonly serviceNamespace: string | undefined;
}

/** A configuration, as far as it is kept. */
export interface KeptConfiguration {
  readonly name: string;
  readonly labels: ApiJson;
  /** In their order: a patch names them by it. */
  readonly webhooks: readonly KeptWebhook[];
}

/** How configurations are kept. */
export interface WebhookKeeperOptions {
  readonly client: ApiClient;
  readonly sort: WebhookSort;
  /** Name of the only one that is read. Default: all are. */
  readonly only?: string;
  /** Roots by which the API verifies the server. Nothing is done while there are none. */
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
  /** Default: its queue is not measured. */
  readonly queueMetrics?: Metrics | undefined;
}

/** A field of some webhooks, and its desired value. */
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
        // An empty bundle would have the API verify by its own roots, and refuse the server.
        if (configuration !== undefined && caBundle !== "") await keep(configuration, caBundle, signal);
      },
    });
  }

  /** Keeps them until the signal aborts; returns when nothing is written any more. */
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
 * Sets a field of the webhooks that lack it, in one patch.
 *
 * @returns The number of webhooks that were changed; 0: nothing was written.
 * @throws {ApiError} when the API refuses; then all stay as they are
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
