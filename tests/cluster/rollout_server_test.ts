/** A load of 100 requests a second goes on, without a failed request, while the servers of the mesh are replaced. */
import assert from "node:assert/strict";
import { clusterTests, INJECTED } from "./support/cluster_tests.ts";
import { MESH_NAMESPACE } from "./support/mesh.ts";
import { killed, noneFailed, restarted, SERVES_ON } from "./support/rollouts.ts";
import { deployEcho, startLoad } from "./support/workloads.ts";

const test = clusterTests();

test.long("a rollout of the servers, with pods that start meanwhile, fails no request", async ({ cluster, namespace }) => {
  const name = await namespace(INJECTED);
  await deployEcho(cluster, { namespace: name, name: "web", replicas: 3, container: SERVES_ON });
  const load = await startLoad(cluster, { namespace: name, url: `http://web.${name}/` });
  await Promise.all([
    restarted(cluster, MESH_NAMESPACE, "deployment/meshd"),
    restarted(cluster, name, "deployment/web"),
  ]);
  await noneFailed(cluster, { namespace: name, app: "web" }, load);
});

test.long("a killed server, with pods that start meanwhile, fails no request", async ({ cluster, namespace }) => {
  const name = await namespace(INJECTED);
  await deployEcho(cluster, { namespace: name, name: "web", replicas: 3, container: SERVES_ON });
  const load = await startLoad(cluster, { namespace: name, url: `http://web.${name}/` });
  const pods = ["--namespace", MESH_NAMESPACE, "get", "pods", "--selector=app=meshd", "--output=name"];
  const [server = ""] = (await cluster.kubectl(pods)).trim().split("\n");
  assert.match(server, /^pod\//);
  await Promise.all([
    killed(cluster, { namespace: MESH_NAMESPACE, pod: server.slice("pod/".length), container: "discovery" }),
    restarted(cluster, name, "deployment/web"),
  ]);
  await noneFailed(cluster, { namespace: name, app: "web" }, load);
});
