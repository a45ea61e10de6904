/**
 * The duty that keeps the configuration of the validating webhook: the roots by which the API verifies this server, and
 * the policy for failures.
 *
 * A configuration is installed with the policy `Ignore`, so that a cluster works before its first server does. It becomes
 * `Fail` once the API is seen to ask the webhook: an object that every server of this mesh refuses was refused.
 *
 * Permissions: those of the client. The API's: `list`, `watch` and `patch` of the configuration, `create` of gateways in
 * the server's namespace (as a dry run, nothing is stored).
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import { ApiError } from "../../orch/client/api_error.ts";
import { type ApiJson, isApiJson } from "../../orch/client/answer.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { Informer } from "../../orch/informer/informer.ts";
import { type ApiResource, apiVersionOf, listPath, objectPath } from "../../orch/informer/resource.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import { KeyedQueue } from "../../orch/queue/keyed_queue.ts";
import type { TrustBundle } from "../../pki/current.ts";

const CONFIGURATION: ApiResource = {
  group: "admissionregistration.k8s.io",
  version: "v1",
  plural: "validatingwebhookconfigurations",
  kind: "ValidatingWebhookConfiguration",
  namespaced: false,
};

const GATEWAY: ApiResource = {
  group: "networking.mesh.io",
  version: "v1",
  plural: "gateways",
  kind: "Gateway",
  namespaced: true,
};

/** What the duty is made of. */
export interface ValidationWebhookParts {
  readonly client: ApiClient;
  /** Name of the configuration (`VALIDATION_WEBHOOK_CONFIG_NAME`). */
  readonly name: string;
  /** That of the server. */
  readonly namespace: string;
  /** By what the server's certificate is verified. */
  readonly roots: TrustBundle;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Default: its queue is not measured. */
  readonly queueMetrics?: Metrics | undefined;
}

/** One webhook of the configuration, as far as it is kept. */
interface KeptWebhook {
  readonly name: string;
  readonly caBundle: string;
  readonly failurePolicy: string;
}

/** See the module. */
export function validationWebhook(parts: ValidationWebhookParts): Duty {
  return {
    lock: "mesh-validation-controller-election",
    about: `roots in the webhook configuration ${parts.name}`,
    run: (signal) => new ValidationWebhook(parts).run(signal),
  };
}

/** One term of the duty. */
class ValidationWebhook {
  readonly #parts: ValidationWebhookParts;
  readonly #configurations: Informer<readonly KeptWebhook[]>;
  readonly #queue: KeyedQueue;

  constructor(parts: ValidationWebhookParts) {
    this.#parts = parts;
    const { client, name, log, metrics, queueMetrics } = parts;
    this.#configurations = new Informer<readonly KeptWebhook[]>(client, {
      ...{ resource: CONFIGURATION, fieldSelector: `metadata.name=${name}`, log },
      project: ({ webhooks }) => (Array.isArray(webhooks) ? webhooks : []).filter(isApiJson).map(keptWebhook),
      troubled: ({ status }) =>
        metrics.counter("galley_validation_config_load_error").inc({ reason: String(status ?? "no answer") }),
    });
    this.#queue = new KeyedQueue({
      ...{ id: "validation", clock: client.clock, metrics: queueMetrics },
      work: (_, stop) => this.#keep(stop),
      failed: (_, error) =>
        log.warn("the webhook's configuration is not as it should be; it is tried again", { name, error }),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { name, roots } = this.#parts;
    const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    const ends = [
      this.#configurations.subscribe(() => this.#queue.add(name)),
      roots.onChange(() => this.#queue.add(name)),
    ];
    this.#configurations.start();
    if (!signal.aborted) await ended;
    for (const end of ends) end();
    await Promise.all([this.#queue.stop(), this.#configurations.stop()]);
  }

  /** Makes the webhooks what they should be: roots first, because the API asks nobody whom it cannot verify. */
  async #keep(signal: AbortSignal): Promise<void> {
    const { name, roots } = this.#parts;
    const webhooks = this.#configurations.get("", name)?.value ?? [];
    const caBundle = Buffer.from(roots.current()).toString("base64");
    if (webhooks.length === 0 || caBundle === "") return;
    await this.#patch(webhooks, "/clientConfig/caBundle", caBundle, (webhook) => webhook.caBundle !== caBundle, signal);
    if (webhooks.every(({ failurePolicy }) => failurePolicy === "Fail")) return;
    await this.#seeRefusal(signal);
    await this.#patch(webhooks, "/failurePolicy", "Fail", ({ failurePolicy }) => failurePolicy !== "Fail", signal);
  }

  /** Sets a field of some webhooks; those that are gone, or others by now, make it a failure and stay as they are. */
  async #patch(
    webhooks: readonly KeptWebhook[],
    field: string,
    value: string,
    lacks: (webhook: KeptWebhook) => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const body = webhooks.flatMap((webhook, index) =>
      lacks(webhook)
        ? [
          { op: "test", path: `/webhooks/${index}/name`, value: webhook.name },
          { op: "add", path: `/webhooks/${index}${field}`, value },
        ]
        : []
    );
    if (body.length === 0) return;
    const { client, name, metrics, log } = this.#parts;
    const path = objectPath(CONFIGURATION, "", name);
    try {
      await client.tell({ method: "PATCH", path, type: "application/json-patch+json", body, signal });
    } catch (error) {
      const reason = error instanceof ApiError && error.status !== undefined ? String(error.status) : "no answer";
      metrics.counter("galley_validation_config_update_error").inc({ reason });
      throw error;
    }
    metrics.counter("galley_validation_config_updates").inc();
    log.info("the webhook's configuration is changed", { name, field, webhooks: body.length / 2 });
  }

  /**
   * Resolves when the API has refused an object by the webhook.
   *
   * @throws Error when it took the object, or had another reason: the webhook is not asked yet
   */
  async #seeRefusal(signal: AbortSignal): Promise<void> {
    const { client, namespace } = this.#parts;
    try {
      await client.tell({
        ...{ method: "POST", path: `${listPath(GATEWAY, namespace)}?dryRun=All`, signal },
        body: refusedGateway(namespace),
      });
    } catch (error) {
      if (error instanceof ApiError && /denied the request/.test(error.message)) return;
      throw error;
    }
    throw new Error(
      "the API took an object that the webhook refuses: it does not ask it yet, so failures stay ignored",
    );
  }
}

function keptWebhook({ name, clientConfig, failurePolicy }: ApiJson): KeptWebhook {
  const caBundle = isApiJson(clientConfig) ? clientConfig["caBundle"] : undefined;
  return { name: String(name), caBundle: String(caBundle ?? ""), failurePolicy: String(failurePolicy ?? "") };
}

/** A Gateway that each server refuses for its annotation, and that is right otherwise. */
function refusedGateway(namespace: string): ApiJson {
  const annotations = { "internal.mesh.io/webhook-always-reject": "true" };
  return {
    apiVersion: apiVersionOf(GATEWAY),
    kind: GATEWAY.kind,
    metadata: { name: "validation-is-asked", namespace, annotations },
    spec: { servers: [{ port: { number: 80, name: "http", protocol: "HTTP" }, hosts: ["*"] }] },
  };
}
