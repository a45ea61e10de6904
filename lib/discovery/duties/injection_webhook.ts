/**
 * Keeps the server's roots in the configurations of the mutating webhook that injects proxies. The API verifies this
 * server with the roots.
 *
 * Every server keeps the configurations of its own revision, without a lock: all revisions share a lock, but each
 * revision has its own configurations. Servers of one revision have the same roots, so they do not undo each other's
 * work.
 *
 * Permissions: the permissions of the client. Rights at the API: `list`, `watch` and `patch` of
 * mutatingwebhookconfigurations.
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { TrustBundle } from "../../pki/current.ts";
import { INJECTOR_NAMES } from "../../webhook/injector_entries.ts";
import { type KeptConfiguration, type KeptWebhook, patchWebhooks, WebhookKeeper } from "./webhook_keeper.ts";

/** Labels that name the revision of a configuration. The first present label counts. */
const REVISION_LABELS = ["mesh.io/rev", "istio.io/rev"];

/** Inputs of the keeper. */
export interface InjectionWebhookParts {
  readonly client: ApiClient;
  /** Name of a configuration that is kept even without a revision (`INJECTION_WEBHOOK_CONFIG_NAME`). */
  readonly name: string;
  readonly revision: string;
  /** Namespace of the server. */
  readonly namespace: string;
  /** Roots that verify the server's certificate. */
  readonly roots: TrustBundle;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Default: the queue is not measured. */
  readonly queueMetrics?: Metrics | undefined;
}

/** Keeps the roots in the configurations until the signal aborts. */
export async function keepInjectionWebhook(parts: InjectionWebhookParts, signal: AbortSignal): Promise<void> {
  const { client, roots, log, metrics, queueMetrics } = parts;
  await new WebhookKeeper({
    ...{ client, sort: "mutating", roots, log, queue: "webhook patcher", queueMetrics },
    keep: (configuration, caBundle, stop) => keepRoots(parts, configuration, caBundle, stop),
    failed: (name, error, said) => {
      metrics.counter("webhook_patch_failures_total").inc({ name, reason: "webhook_update_failure" });
      metrics.counter("webhook_patch_retries_total").inc({ name });
      if (said) return;
      log.warn("the webhook's configuration lacks the roots of this server; the server tries again", { name, error });
    },
  }).run(signal);
}

async function keepRoots(
  parts: InjectionWebhookParts,
  configuration: KeptConfiguration,
  caBundle: string,
  signal: AbortSignal,
): Promise<void> {
  const { client, metrics, log } = parts;
  const { name, webhooks } = configuration;
  const fails = (reason: string) => metrics.counter("webhook_patch_failures_total").inc({ name, reason });
  if (!isOwnConfiguration(parts, configuration)) {
    if (name === parts.name) fails("wrong_revision");
    return;
  }
  const isOwn = (webhook: KeptWebhook) => isOwnWebhook(parts, name, webhook);
  if (!webhooks.some(isOwn)) return fails("webhook_entry_not_found");
  const lacks = (webhook: KeptWebhook) => isOwn(webhook) && webhook.caBundle !== caBundle;
  if (!webhooks.some(lacks)) return;
  metrics.counter("webhook_patch_attempts_total").inc({ name });
  const field = { path: "/clientConfig/caBundle", value: caBundle, lacks } as const;
  const changed = await patchWebhooks({ client, sort: "mutating" }, configuration, field, signal);
  log.info("the webhook's configuration has the roots of this server", { name, webhooks: changed });
}

/**
 * Whether a configuration is for this server's revision. The configuration named in the settings needs no revision
 * label.
 */
function isOwnConfiguration(
  { name, revision }: Pick<InjectionWebhookParts, "name" | "revision">,
  configuration: KeptConfiguration,
): boolean {
  const label = REVISION_LABELS.map((key) => configuration.labels[key]).find((value) => value !== undefined);
  return label === undefined ? configuration.name === name : (label || "default") === (revision || "default");
}

/**
 * Whether an entry asks this server. Another control plane may have entries of the same name and revision. An entry
 * that asks a service in another namespace, or in Istio's spelling a URL, belongs to another server, and would fail
 * with our roots.
 */
function isOwnWebhook(
  { name, namespace }: Pick<InjectionWebhookParts, "name" | "namespace">,
  configuration: string,
  webhook: KeptWebhook,
): boolean {
  const own = webhook.name.endsWith(INJECTOR_NAMES.own);
  if (!own && !webhook.name.endsWith(INJECTOR_NAMES.istio)) return false;
  if (webhook.serviceNamespace !== undefined) return webhook.serviceNamespace === namespace;
  return own || configuration === name;
}
