/**
 * The duty that puts the mesh's root certificates into a ClusterTrustBundle. Pods mount the bundle directly, so no
 * config map in every namespace is needed.
 *
 * Permissions: the permissions of the client. Rights at the API: `create` and `patch` of clustertrustbundles, and
 * `attest` of the signer. Every account may list and watch the bundles (role `system:cluster-trust-bundle-discovery`).
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import { isApiJson } from "../../orch/client/answer.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { Informer } from "../../orch/informer/informer.ts";
import type { ApiResource } from "../../orch/informer/resource.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import { KeyedQueue } from "../../orch/queue/keyed_queue.ts";
import { createObject, patchObject } from "../../orch/resources/objects.ts";
import { servedVersions } from "../../orch/resources/served.ts";
import type { TrustBundle } from "../../pki/current.ts";

/** The signer of the bundle. The object's name must begin with the signer's name. */
const SIGNER = "mesh.io/meshd-ca";

export const TRUST_BUNDLE_NAME = "mesh.io:meshd-ca:root-cert";

const GROUP = "certificates.k8s.io", PLURAL = "clustertrustbundles";

/** Versions with the same fields, best first. */
const VERSIONS = ["v1", "v1beta1", "v1alpha1"];

/** Milliseconds after which an API without the resource is asked again. */
const AGAIN_MS = 60_000;

/** Inputs of the duty. */
export interface TrustBundleParts {
  readonly client: ApiClient;
  readonly roots: TrustBundle;
  readonly log: Logger;
  /** Default: the queue is not measured. */
  readonly metrics?: Metrics | undefined;
}

export function trustBundle(parts: TrustBundleParts): Duty {
  return {
    lock: "mesh-clustertrustbundle-controller-election",
    about: `cluster trust bundle ${TRUST_BUNDLE_NAME}`,
    run: async (signal) => {
      const resource = await servedResource(parts, signal);
      if (resource !== undefined) await keep(resource, parts, signal);
    },
  };
}

/**
 * Waits for the API to serve a known version, and returns the resource in the best version. Undefined: the signal
 * aborted before.
 */
async function servedResource(
  { client, log }: TrustBundleParts,
  signal: AbortSignal,
): Promise<ApiResource | undefined> {
  let warned = false;
  while (!signal.aborted) {
    const served = (await servedVersions(client, GROUP, signal)).get(PLURAL);
    const version = VERSIONS.find((each) => served?.has(each));
    if (version !== undefined) {
      return { group: GROUP, version, plural: PLURAL, kind: "ClusterTrustBundle", namespaced: false };
    }
    if (!warned) {
      log.warn(
        "ENABLE_CLUSTER_TRUST_BUNDLE_API: the orchestrator serves no ClusterTrustBundle, so roots are written nowhere",
        {
          expected: VERSIONS.map((each) => `${GROUP}/${each}`).join(", "),
        },
      );
    }
    warned = true;
    await client.clock.sleep(AGAIN_MS, signal).catch(() => {});
  }
  return undefined;
}

/** Keeps the roots in the object until the signal aborts. */
async function keep(
  resource: ApiResource,
  { client, roots, log, metrics }: TrustBundleParts,
  signal: AbortSignal,
): Promise<void> {
  const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  const bundles = new Informer(client, {
    ...{ resource, fieldSelector: `metadata.name=${TRUST_BUNDLE_NAME}`, log },
    project: ({ spec }) => isApiJson(spec) ? spec["trustBundle"] : undefined,
  });
  const queue = new KeyedQueue({
    ...{ id: "cluster trust bundle", clock: client.clock, metrics, outage: { client, log } },
    work: async (name, stop) => {
      const text = roots.current();
      const there = bundles.get("", name);
      if (text === "" || !bundles.synced || there?.value === text) return;
      const place = { resource, namespace: "", name };
      const body = { spec: { signerName: SIGNER, trustBundle: text } };
      if (there === undefined) await createObject(client, place, body, { signal: stop });
      else await patchObject(client, place, body, { signal: stop });
    },
    failed: (name, error, said) =>
      said || log.warn("the roots cannot be written; the server tries again", { name, error }),
  });
  bundles.start();
  const ends = [
    bundles.subscribe(() => queue.add(TRUST_BUNDLE_NAME)),
    roots.onChange(() => queue.add(TRUST_BUNDLE_NAME)),
  ];
  if (!signal.aborted) await Promise.race([bundles.whenSynced, ended]);
  if (!signal.aborted) {
    queue.add(TRUST_BUNDLE_NAME);
    await ended;
  }
  for (const end of ends) end();
  await Promise.all([queue.stop(), bundles.stop()]);
}
