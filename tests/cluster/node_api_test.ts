/** The API server is silent while the runtime calls the plugin: the pod does not start without its rules. */
import assert from "node:assert/strict";
import { until } from "./support/waiting.ts";
import { clusterTests, INJECTED } from "./support/cluster_tests.ts";
import { attempts, hearsOutsiders, listen, noneEscaped, registryOnly } from "./support/escapes.ts";
import type { ClusterHandle } from "./support/handle.ts";
import { rolledOut } from "./support/mesh.ts";
import { doctor, pluginCalls, pluginUntilEnd } from "./support/node_plugin.ts";
import { startedAnew } from "./support/rollouts.ts";
import { applyObjects, deployEcho, request, strictPolicy } from "./support/workloads.ts";

const test = clusterTests();

const APP = "dials";

/** Ends the containers of a pod, and the container that holds its network: the kubelet makes a new network. */
async function loseNetwork(cluster: ClusterHandle, namespace: string, pod: string): Promise<void> {
  const filter = `labels."io.kubernetes.pod.name"==${pod},labels."io.kubernetes.pod.namespace"==${namespace}`;
  const ids = await cluster.onNode("node1", `ctr -n k8s.io containers ls -q '${filter}'`);
  for (const id of ids.trim().split("\n")) {
    await cluster.onNode("node1", `ctr -n k8s.io tasks kill --signal SIGKILL ${id} 2>/dev/null || true`);
  }
}

/** The running containers of a namespace on the node. */
async function running(cluster: ClusterHandle, namespace: string): Promise<readonly string[]> {
  const filter = `labels."io.kubernetes.pod.namespace"==${namespace},labels."io.cri-containerd.kind"==container`;
  const script = `for id in $(ctr -n k8s.io containers ls -q '${filter}'); do ` +
    `ctr -n k8s.io tasks ls | grep "^$id .*RUNNING" || true; done`;
  return (await cluster.onNode("node1", script)).split("\n").filter((line) => line !== "");
}

test.long("a pod whose network is made while the API is silent stays down, and comes up with its rules afterwards", async ({ cluster, namespace }) => {
  const [name, web, outside] = [await namespace(INJECTED), await namespace(INJECTED), await namespace()];
  await applyObjects(cluster, [registryOnly(name), strictPolicy(web)]);
  await using listener = await listen(cluster, 7703);
  await using _plugin = await pluginUntilEnd(cluster);
  await applyObjects(cluster, listener.dialling({ namespace: name, name: APP }));
  await Promise.all([
    rolledOut(cluster, name, `deployment/${APP}`),
    deployEcho(cluster, { namespace: web, name: "web" }),
    hearsOutsiders(cluster, listener, outside),
  ]);
  const pods = ["--namespace", name, "get", "pods", "--output=jsonpath={.items[*].metadata.name}"];
  const pod = (await cluster.kubectl(pods)).trim();
  const refused = async () => {
    const calls = (await pluginCalls(cluster)).filter((call) =>
      call.pod === `${name}/${pod}` && call.command === "ADD"
    );
    return calls.filter(({ code }) => code !== 0);
  };
  assert.deepEqual(await refused(), []);
  await cluster.signalControl("kube-apiserver", "STOP");
  try {
    await loseNetwork(cluster, name, pod);
    await until("a call of ADD is refused", async () => (await refused()).length > 0);
    assert.deepEqual(await running(cluster, name), []);
  } finally {
    await cluster.signalControl("kube-apiserver", "CONT");
  }
  await startedAnew(cluster, name, APP);
  const from = { namespace: name, workload: `deployment/${APP}` };
  await until("the pod is in the mesh again", async () => {
    return (await request(cluster, from, `http://web.${web}/`)).status === 200;
  });
  for (const { code, outcome, took } of await refused()) console.log(`refused after ${took} ms: ${code} ${outcome}`);
  console.log(`${await attempts(cluster, name, APP)} attempts since`);
  await noneEscaped(listener);
  assert.deepEqual((await doctor(cluster)).filter(({ severity }) => severity === "problem"), []);
});
