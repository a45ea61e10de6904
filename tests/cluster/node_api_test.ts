/** The API server is silent while the runtime calls the plugin: the pod does not start without its rules. */
import assert from "node:assert/strict";
import { until } from "./support/waiting.ts";
import { clusterTests, INJECTED } from "./support/cluster_tests.ts";
import { attempts, hearsOutsiders, listen, noneEscaped, registryOnly } from "./support/escapes.ts";
import { rolledOut } from "./support/mesh.ts";
import { doctor, pluginCalls, pluginUntilEnd } from "./support/node_plugin.ts";
import { loseNetwork, runningContainers, startedAnew } from "./support/rollouts.ts";
import { applyObjects, deployEcho, served, strictPolicy } from "./support/workloads.ts";

const test = clusterTests();

const APP = "dials";

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
    await loseNetwork(cluster, { node: "node1", namespace: name, pod });
    await until("a call of ADD is refused", async () => (await refused()).length > 0);
    assert.deepEqual(await runningContainers(cluster, "node1", name), []);
  } finally {
    await cluster.signalControl("kube-apiserver", "CONT");
  }
  await startedAnew(cluster, name, APP);
  const from = { namespace: name, workload: `deployment/${APP}` };
  await served(cluster, from, `http://web.${web}/`);
  for (const { code, outcome, took } of await refused()) console.log(`refused after ${took} ms: ${code} ${outcome}`);
  console.log(`${await attempts(cluster, name, APP)} attempts since`);
  await noneEscaped(listener);
  assert.deepEqual((await doctor(cluster)).filter(({ severity }) => severity === "problem"), []);
});
