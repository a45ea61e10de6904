/**
 * Ambient mode under load: pods on two nodes call each other by new connections, while the node agent is upgraded and
 * killed, programs of a node are restarted, and pods come and go at addresses of earlier pods. No request fails, and the
 * kernel counts no plain packet of a pod in ambient mode.
 */
import assert from "node:assert/strict";
import { AMBIENT, ambientUntilEnd, startTunnels } from "./support/ambient.ts";
import { clusterTests } from "./support/cluster_tests.ts";
import type { ClusterHandle } from "./support/handle.ts";
import { MESH_NAMESPACE } from "./support/mesh.ts";
import { networksSettled, upgradeAgent } from "./support/node_plugin.ts";
import { countPlainPackets } from "./support/plain_packets.ts";
import { killed, noneFailed } from "./support/rollouts.ts";
import { Waves } from "./support/waves.ts";
import { apart, applyObjects, deployEcho, startLoad, strictPolicy } from "./support/workloads.ts";

const test = clusterTests({ nodes: 2 });

const RESTARTS = [["kubelet", "TERM"], ["kubelet", "KILL"], ["containerd", "TERM"], ["containerd", "KILL"]] as const;

/** Kills the node agent of a node. Resolves when the agent is ready again. */
async function killAgent(cluster: ClusterHandle, node: string): Promise<void> {
  const where = ["--selector=k8s-app=mesh-cni-node", `--field-selector=spec.nodeName=${node}`];
  const pod = (await cluster.kubectl(["--namespace", MESH_NAMESPACE, "get", "pods", ...where, "--output=name"])).trim();
  await killed(cluster, { namespace: MESH_NAMESPACE, pod: pod.replace("pod/", ""), container: "install-cni" });
}

test.long("agents are upgraded and killed, a node's programs restart, pods come and go: no request fails, no plain packet leaves", async ({ cluster, namespace }) => {
  const [inside, outside] = [await namespace(AMBIENT), await namespace()];
  const host = `web.${inside}.svc.cluster.local`;
  // The tunnels report each question too. Under this load, questions would push connections out of the kept logs.
  await using _agent = await ambientUntilEnd(cluster, false);
  await using _tunnels = await startTunnels(cluster);
  await applyObjects(cluster, [strictPolicy(inside)]);
  const livenessProbe = { tcpSocket: { port: 9000 }, periodSeconds: 1, timeoutSeconds: 5 };
  await deployEcho(cluster, {
    ...{ namespace: inside, name: "web", replicas: 2, pod: apart("web"), container: { livenessProbe } },
  });
  await using packets = await countPlainPackets(cluster, outside, host);
  const waves = new Waves(cluster, inside, host);
  const loads = await Promise.all(cluster.nodes.map(async (nodeName) => {
    const options = { namespace: inside, url: `http://${host}/`, rate: 50, fresh: true, pod: { nodeName } };
    return [`load-${nodeName}`, await startLoad(cluster, { ...options, name: `load-${nodeName}` })] as const;
  }));
  const step = async (name: string, ...works: readonly Promise<unknown>[]) => {
    const started = performance.now();
    await Promise.all(works);
    await packets.noneEscaped();
    console.log(`${name}: ${((performance.now() - started) / 1000).toFixed(0)} s`);
  };
  await step("a wave", waves.run());
  await step("the agents are upgraded", upgradeAgent(cluster, 1), waves.run());
  await step("an agent is killed", killAgent(cluster, cluster.nodes[1]!), waves.run());
  for (const [program, signal] of RESTARTS) {
    await step(`${program}: ${signal}`, cluster.restart(cluster.nodes[1]!, program, signal));
    await step("a wave", waves.run());
  }
  for (const [pod, load] of loads) {
    await noneFailed(cluster, { namespace: inside, app: "web" }, load, { namespace: inside, pod });
  }
  const { pods, addresses, nodes } = waves.summary();
  console.log(`waves: ${pods} pods on ${nodes} nodes had ${addresses} addresses`);
  assert.equal(nodes, cluster.nodes.length);
  assert.ok(addresses < pods, "addresses were used again");
  console.log(`${await packets.neverAnswered()} packets of the outsider, none answered; 0 plain packets escaped`);
  const get = ["--namespace", inside, "get", "pods", "--selector=app=web"];
  const restarts = await cluster.kubectl([
    ...get,
    "--output=jsonpath={.items[*].status.containerStatuses[*].restartCount}",
  ]);
  assert.equal(restarts, "0 0", "each probe of liveness passed");
  await cluster.kubectl(["--namespace", inside, "delete", "deployments", "--all"]);
  await networksSettled(cluster);
});
