/** The node's plugin behind `ptp`, which gives each pod a wire of its own. Removal restores the node. */
import assert from "node:assert/strict";
import { until } from "../patience.ts";
import { defineLong, INJECTED } from "./support/cluster_tests.ts";
import { installMesh } from "./support/mesh.ts";
import { installPlugin, nodeFiles, pluginCalls, removePlugin } from "./support/node_plugin.ts";
import { startCluster } from "./support/started_cluster.ts";
import { applyObjects, deployEcho, request, strictPolicy } from "./support/workloads.ts";

const [INSIDE, OUTSIDE] = ["inside", "outside"];

defineLong("behind ptp, pods serve and call under STRICT, and removal restores the node byte for byte", async () => {
  await using started = await startCluster(["--number", "6", "--plugin", "ptp"]);
  const cluster = started.handle;
  await installMesh(cluster);
  const before = await nodeFiles(cluster);
  await installPlugin(cluster);
  assert.notEqual(await nodeFiles(cluster), before);
  await applyObjects(cluster, [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: INSIDE, labels: INJECTED } },
    { apiVersion: "v1", kind: "Namespace", metadata: { name: OUTSIDE } },
    strictPolicy(INSIDE),
  ]);
  await Promise.all([
    deployEcho(cluster, { namespace: INSIDE, name: "web" }),
    deployEcho(cluster, { namespace: INSIDE, name: "client" }),
    deployEcho(cluster, { namespace: OUTSIDE, name: "client" }),
  ]);
  const ask = (namespace: string) => (
    request(cluster, { namespace, workload: "deployment/client" }, `http://web.${INSIDE}/`)
  );
  await until("plain text is refused", async () => (await ask(OUTSIDE)).status !== 200);
  await until("a pod of the mesh is served", async () => (await ask(INSIDE)).status === 200);
  const calls = (await pluginCalls(cluster)).filter(({ pod }) => pod.startsWith(`${INSIDE}/`));
  assert.deepEqual(calls.map(({ outcome }) => outcome.split(";")[0]), ["redirected", "redirected"]);
  await removePlugin(cluster);
  assert.equal(await nodeFiles(cluster), before);
});
