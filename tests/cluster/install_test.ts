/** The mesh on a real cluster, by its manifests alone: pods are injected, redirected and served under STRICT. */
import assert from "node:assert/strict";
import { clusterTests, INJECTED } from "./support/cluster_tests.ts";
import { applyManifests, MESH_NAMESPACE } from "./support/mesh.ts";
import { applyObjects, deployEcho, request, served, strictPolicy } from "./support/workloads.ts";
import { until } from "./support/waiting.ts";

const test = clusterTests();

test("applied a second time, no manifest changes an object", async ({ cluster }) => {
  const files = ["definitions.yaml", "pilot-discovery.yaml", "meshd.yaml", "webhooks.yaml"];
  const versions = () =>
    cluster.kubectl([
      ...["get", "deployments,services,configmaps,serviceaccounts,poddisruptionbudgets", "--namespace", MESH_NAMESPACE],
      "-o=jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.generation}{'\\n'}{end}",
    ]);
  const before = await versions();
  const webhooks = () => cluster.kubectl(["get", "mutatingwebhookconfigurations", "-o=yaml"]);
  const hooksBefore = await webhooks();
  await applyManifests(cluster, ...files);
  assert.equal(await versions(), before);
  assert.equal(await webhooks(), hooksBefore);
});

test("under STRICT a pod with a proxy is served, and a pod without a proxy is refused", async ({ cluster, namespace }) => {
  const [inside, outside] = [await namespace(INJECTED), await namespace()];
  await Promise.all([
    deployEcho(cluster, { namespace: inside, name: "web", replicas: 2 }),
    deployEcho(cluster, { namespace: inside, name: "client" }),
    deployEcho(cluster, { namespace: outside, name: "client" }),
  ]);
  const url = `http://web.${inside}/`;
  const stranger = { namespace: outside, workload: "deployment/client" };
  await served(cluster, stranger, url);
  await applyObjects(cluster, [strictPolicy(inside)]);
  await until("plain text is refused", async () => (await request(cluster, stranger, url)).status !== 200);
  const { body } = await served(cluster, { namespace: inside, workload: "deployment/client" }, url);
  const { headers } = JSON.parse(body!);
  assert.match(headers["x-forwarded-client-cert"], new RegExp(`spiffe://cluster.local/ns/${inside}/sa/default`));
});
