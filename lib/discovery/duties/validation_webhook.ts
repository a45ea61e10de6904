/**
 * The duty that keeps the configuration of the validating webhook: the roots with which the API verifies this server,
 * and the policy for failures.
 *
 * A configuration is installed with the policy `Ignore`, so that a cluster works before its first server does. The duty
 * sets `Fail` after proof that the API asks the webhook: the API has refused an object that every server of this mesh
 * refuses.
 *
 * Permissions: the permissions of the client. Rights at the API: `list`, `watch` and `patch` of the configuration,
 * `create` of gateways in the server's namespace (as a dry run, nothing is stored).
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import { ApiError } from "../../orch/client/api_error.ts";
import type { ApiJson } from "../../orch/client/answer.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { type ApiResource, apiVersionOf, listPath } from "../../orch/informer/resource.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import type { TrustBundle } from "../../pki/current.ts";
import { type KeptConfiguration, patchWebhooks, type WebhookField, WebhookKeeper } from "./webhook_keeper.ts";

const GATEWAY: ApiResource = {
  group: "networking.mesh.io",
  version: "v1",
  plural: "gateways",
  kind: "Gateway",
  namespaced: true,
};

/** Inputs of the duty. */
export interface ValidationWebhookParts {
  readonly client: ApiClient;
  /** Name of the configuration (`VALIDATION_WEBHOOK_CONFIG_NAME`). */
  readonly name: string;
  /** Namespace of the server. */
  readonly namespace: string;
  /** Roots that verify the server's certificate. */
  readonly roots: TrustBundle;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Default: the queue is not measured. */
  readonly queueMetrics?: Metrics | undefined;
}

export function validationWebhook(parts: ValidationWebhookParts): Duty {
  const { client, name, roots, log, metrics, queueMetrics } = parts;
  return {
    lock: "mesh-validation-controller-election",
    about: `roots in the webhook configuration ${name}`,
    run: (signal) =>
      new WebhookKeeper({
        ...{ client, sort: "validating", only: name, roots, log, queue: "validation", queueMetrics },
        keep: (configuration, caBundle, stop) => keepValidation(parts, configuration, caBundle, stop),
        failed: (_, error, said) =>
          said ||
          log.warn("the webhook's configuration cannot be kept up to date; the server tries again", { name, error }),
        troubled: ({ status }) =>
          metrics.counter("galley_validation_config_load_error").inc({ reason: String(status ?? "no answer") }),
      }).run(signal),
  };
}

/**
 * Writes the wanted fields into the webhooks. Roots come first, because the API cannot ask a server without roots to
 * verify the server.
 */
async function keepValidation(
  parts: ValidationWebhookParts,
  configuration: KeptConfiguration,
  caBundle: string,
  signal: AbortSignal,
): Promise<void> {
  const lacksRoots: WebhookField = {
    ...{ path: "/clientConfig/caBundle", value: caBundle },
    lacks: (webhook) => webhook.caBundle !== caBundle,
  };
  await change(parts, configuration, lacksRoots, signal);
  if (configuration.webhooks.every(({ failurePolicy }) => failurePolicy === "Fail")) return;
  await seeRefusal(parts, signal);
  const policy: WebhookField = {
    ...{ path: "/failurePolicy", value: "Fail" },
    lacks: ({ failurePolicy }) => failurePolicy !== "Fail",
  };
  await change(parts, configuration, policy, signal);
}

/** Sets a field, and counts the write. */
async function change(
  { client, name, metrics, log }: ValidationWebhookParts,
  configuration: KeptConfiguration,
  field: WebhookField,
  signal: AbortSignal,
): Promise<void> {
  let webhooks: number;
  try {
    webhooks = await patchWebhooks({ client, sort: "validating" }, configuration, field, signal);
  } catch (error) {
    const reason = error instanceof ApiError && error.status !== undefined ? String(error.status) : "no answer";
    metrics.counter("galley_validation_config_update_error").inc({ reason });
    throw error;
  }
  if (webhooks === 0) return;
  metrics.counter("galley_validation_config_updates").inc();
  log.info("the webhook's configuration is changed", { name, field: field.path, webhooks });
}

/**
 * Resolves when the webhook has had the API refuse an object.
 *
 * @throws Error when the API took the object or gave another reason: the API does not ask the webhook yet
 */
async function seeRefusal(
  { client, namespace }: Pick<ValidationWebhookParts, "client" | "namespace">,
  signal: AbortSignal,
): Promise<void> {
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
    "the API took an object that the webhook refuses: the API does not ask the webhook yet, so failures stay ignored",
  );
}

/** A valid Gateway with an annotation that every server refuses. */
function refusedGateway(namespace: string): ApiJson {
  const annotations = { "internal.mesh.io/webhook-always-reject": "true" };
  return {
    apiVersion: apiVersionOf(GATEWAY),
    kind: GATEWAY.kind,
    metadata: { name: "validation-is-asked", namespace, annotations },
    spec: { servers: [{ port: { number: 80, name: "http", protocol: "HTTP" }, hosts: ["*"] }] },
  };
}
