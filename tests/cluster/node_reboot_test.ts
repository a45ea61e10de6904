/**
 * A node is rebooted: processes and network are gone, files stay. No pod of the mesh runs without its rules
 * at any moment, with the init container that redirects and with the node's plugin.
 */
import assert from "node:assert/strict";
import { clusterTests, INJECTED } from "./support/cluster_tests.ts";
import { attempts, hearsOutsiders, listen, noneEscaped, OUTSIDE, registryOnly } from "./support/escapes.ts";
import { rolledOut } from "./support/mesh.ts";
import { doctor, pluginCalls, pluginUntilEnd } from "./support/node_plugin.ts";
import { startedAnew } from "./support/rollouts.ts";
import { applyObjects, deployEcho, served, strictPolicy } from "./support/workloads.ts";

const test = clusterTests();

test.long("after a reboot of the node no pod of the mesh bypasses its proxy, from its first instruction on", async ({ cluster, namespace }) => {
  const [byInit, byPlugin, outside] = [await namespace(INJECTED), await namespace(INJECTED), await namespace()];
  await applyObjects(cluster, [byInit, byPlugin].flatMap((name) => [registryOnly(name), strictPolicy(name)]));
  await using listener = await listen(cluster, 7701);
  const deploy = async (namespace: string, name: string) => {
    await Promise.all([
      deployEcho(cluster, { namespace, name: "web" }),
      applyObjects(cluster, listener.dialling({ namespace, name, replicas: 2, redirectedBefore: name !== "init" })),
    ]);
    await rolledOut(cluster, namespace, `deployment/${name}`);
  };
  await deploy(byInit, "init");
  await using _plugin = await pluginUntilEnd(cluster);
  await Promise.all([deploy(byPlugin, "plugin"), hearsOutsiders(cluster, listener, outside)]);

  await noneEscaped(listener);

  await cluster.reboot("node1");
  await startedAnew(cluster, outside, OUTSIDE);
  for (const [name, app] of [[byInit, "init"], [byPlugin, "plugin"]] as const) {
    await startedAnew(cluster, name, app);
    await startedAnew(cluster, name, "web");
    const from = { namespace: name, workload: `deployment/${app}` };
    await served(cluster, from, `http://web.${name}/`);
    console.log(`${app}: 2 pods, ${await attempts(cluster, name, app)} attempts since the reboot, 0 escaped`);
  }
  await noneEscaped(listener);
  const refused = (await pluginCalls(cluster)).filter(({ command, code }) => command === "ADD" && code !== 0);
  console.log(`${refused.length} calls of ADD were refused: ${JSON.stringify(refused.map(({ outcome }) => outcome))}`);
  assert.deepEqual((await doctor(cluster)).filter(({ severity }) => severity === "problem"), []);
});
