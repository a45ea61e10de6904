/**
 * The duty that writes the status of Ingresses when the status differs from the wanted addresses.
 *
 * Permissions: the permissions of the client. Rights at the API: `get` of ingresses, `patch` of ingresses/status.
 *
 * @module
 */
import type { FactStore } from "../../config/facts/store.ts";
import { ingress as ingressSchema } from "../../config/facts/ingress_schema.ts";
import type { IngressAddressData } from "../../config/facts/types.ts";
import { sameAddresses } from "../../ingress/addresses.ts";
import type { IngressStatuses } from "../../ingress/status.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import { type ApiJson, isApiJson } from "../../orch/client/answer.ts";
import { ApiError } from "../../orch/client/api_error.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { ApiResource } from "../../orch/informer/resource.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import { KeyedQueue } from "../../orch/queue/keyed_queue.ts";
import { getObject, patchObject } from "../../orch/resources/objects.ts";

const INGRESSES: ApiResource = {
  group: "networking.k8s.io",
  version: "v1",
  plural: "ingresses",
  kind: "Ingress",
  namespaced: true,
};

/** Ingresses written at a time. */
const WORKERS = 5;

/** Inputs of the duty. */
export interface IngressStatusParts {
  readonly client: ApiClient;
  readonly facts: FactStore;
  readonly statuses: IngressStatuses;
  readonly log: Logger;
  /** Default: the queue is not measured. */
  readonly metrics?: Metrics | undefined;
}

export function ingressStatus(parts: IngressStatusParts): Duty {
  return { lock: "mesh-leader", about: "status of Ingresses", run: (signal) => run(parts, signal) };
}

async function run(parts: IngressStatusParts, signal: AbortSignal): Promise<void> {
  const { client, statuses, log, metrics } = parts;
  const queue = new KeyedQueue({
    ...{ id: "ingress status", workers: WORKERS, clock: client.clock, metrics, outage: { client, log } },
    work: (key, stop) => write(key, parts, stop),
    failed: (key, error, said) => {
      // Another writer was faster: the changed object is read and written again.
      if (error instanceof ApiError && error.conflict) return;
      if (said) return;
      log.warn("the status of an Ingress cannot be written; the server tries again", { key, error });
    },
  });
  const add = (keys: readonly string[]) => {
    for (const key of keys) if (statuses.wanted(key) !== undefined) queue.add(key);
  };
  const leave = statuses.onChange(add);
  if (!signal.aborted) {
    add(statuses.pending());
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  }
  leave();
  await queue.stop();
}

async function write(
  key: string,
  { client, facts, statuses, log }: IngressStatusParts,
  signal: AbortSignal,
): Promise<void> {
  const [, namespace = "", name = ""] = key.split("/");
  const known = facts.get("Ingress", namespace, name);
  if (known === undefined || statuses.wanted(key) === undefined) return;
  const place = { resource: INGRESSES, namespace, name };
  const found = await getObject(client, place, { signal });
  const live = found && liveStatus(found);
  const wanted = statuses.wanted(key);
  // The API has a newer version than the facts. The change is on its way, and will add the Ingress to the queue again.
  const isKnown = live !== undefined && known.origin.from === "api" && known.origin.uid === live.uid &&
    sameAddresses(known.spec.addresses, live.addresses);
  if (!isKnown || wanted === undefined) return;
  const change = { metadata: { resourceVersion: live.version }, status: { loadBalancer: { ingress: wanted } } };
  await patchObject(client, place, change, { subresource: "status", signal });
  log.debug("wrote the status of an Ingress", { key, addresses: wanted.length });
}

/** The present status in the API. */
interface LiveStatus {
  readonly uid: string;
  readonly version: string;
  readonly addresses: readonly IngressAddressData[];
}

function liveStatus(object: ApiJson): LiveStatus | undefined {
  const { metadata } = object;
  const read = ingressSchema.safeParse(object).data;
  if (!isApiJson(metadata) || read === undefined) return undefined;
  const { uid, resourceVersion } = metadata;
  if (typeof uid !== "string" || typeof resourceVersion !== "string") return undefined;
  return { uid, version: resourceVersion, addresses: read.addresses };
}
