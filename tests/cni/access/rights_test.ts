/**
 * `manifests/install-cni.yaml` grants exactly the rights of the installer's requests: all requests pass, and none with
 * one verb less.
 */
import assert from "node:assert/strict";
import type { Pod } from "../../../lib/cni/pods/pod.ts";
import { RestPods } from "../../../lib/cni/pods/rest.ts";
import { PodSourceError } from "../../../lib/cni/pods/source.ts";
import type { ApiServer } from "../../orch/support/server/api_server.ts";
import type { ObjectDraft, ObjectId } from "../../orch/support/server/objects.ts";
import { accountsWithOneRightLess, SYSTEM } from "../../orch/support/server/one_right_less.ts";
import { apiServerTests } from "../../orch/support/server/tests.ts";
import { clientOf } from "../../orch/support/server/users.ts";

const test = apiServerTests();

/** The requests, by their verb. */
const REQUESTS: Readonly<
  Record<string, (pods: RestPods, pod: Pod, change: () => Promise<unknown>) => Promise<unknown>>
> = {
  "get pods": (pods, pod) => pods.pod(pod.namespace, pod.name),
  "list and watch pods": (pods, pod, change) => twoEvents(pods, pod, change),
  "get namespaces": (pods, pod) => pods.namespaceLabels(pod.namespace),
  "patch pods/status": (pods, pod) => pods.label(pod, "test", "yes"),
  "create events": (pods, pod) => pods.note(pod, { reason: "Test", message: "a test" }),
  "get daemonsets": (pods, pod) => pods.setStays(SYSTEM, pod.name),
  "delete pods": (pods, pod) => removeNow(pods, pod),
};

/** The pod comes by the list, and the change by the watch. */
async function twoEvents(pods: RestPods, { name }: Pod, change: () => Promise<unknown>): Promise<void> {
  const stop = new AbortController();
  let refused: PodSourceError | undefined;
  let events = 0;
  const troubled = (error: PodSourceError) => {
    refused = error;
    stop.abort();
  };
  for await (
    const { type } of pods.watch({ labelSelector: "", fieldSelector: `metadata.name=${name}` }, stop.signal, troubled)
  ) {
    if (type !== "pod") continue;
    if (++events === 2) stop.abort();
    else await change();
  }
  if (refused !== undefined) throw refused;
}

/** A delete names the pod's version. */
async function removeNow(pods: RestPods, { namespace, name }: Pod): Promise<void> {
  await pods.remove((await pods.pod(namespace, name))!);
}

/** A pod of a DaemonSet in the system's namespace, like a pod of the installer. */
async function makePod({ objects }: ApiServer, name: string): Promise<ObjectDraft & ObjectId> {
  const labels = { app: name };
  const spec = { containers: [{ name: "a", image: "a" }] };
  const head = { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { namespace: SYSTEM, name } };
  const set = await objects.create({
    ...head,
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
  const owner = { apiVersion: "apps/v1", kind: "DaemonSet", name, uid: set.metadata.uid };
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { namespace: SYSTEM, name, ownerReferences: [owner] }, spec };
  await objects.create(pod);
  return pod;
}

function podsBy(server: ApiServer, token: string): RestPods {
  return new RestPods(() => ({ server: server.access.server, ca: server.access.ca, token }));
}

/** The requests refused to an account. */
async function refusedTo(server: ApiServer, account: string): Promise<string[]> {
  const made = await makePod(server, account);
  const admin = await server.users.byCertificate("admin", ["system:masters"]);
  const pod = (await clientOf(admin).get(await server.objects.path(made)))!;
  const metadata = pod["metadata"] as { readonly uid: string; readonly resourceVersion: string };
  const known = { namespace: SYSTEM, name: account, ...metadata } as unknown as Pod;
  const pods = podsBy(server, await server.users.token(SYSTEM, account));
  const change = () => server.objects.patch(made, { metadata: { labels: { changed: "yes" } } });
  const refused: string[] = [];
  for (const [need, request] of Object.entries(REQUESTS)) {
    try {
      await request(pods, known, change);
    } catch (error) {
      assert.ok(error instanceof PodSourceError && error.status === 403, `${need}: ${error}`);
      refused.push(need);
    }
  }
  return refused;
}

test("all rights of the manifests are enough for every request of the installer, and each is needed: without it a request is refused", async ({ server }) => {
  for await (const { account, without } of accountsWithOneRightLess(server, ["install-cni"], () => true)) {
    const refused = await refusedTo(server, account);
    assert.equal(refused.length > 0, without !== undefined, `without ${JSON.stringify(without)}: ${refused}`);
  }
});
