/**
 * Ambient mode fails closed: a pod whose network is made while the node agent or the API server is away sends no plain
 * packet, and is in the mesh afterwards. Pods that run go on meanwhile.
 */
import assert from "node:assert/strict";
import { AMBIENT, ambientUntilEnd, connections, doctorOf, podsOf, startTunnels } from "./support/ambient.ts";
import { clusterTests } from "./support/cluster_tests.ts";
import type { ClusterHandle } from "./support/handle.ts";
import { MESH_NAMESPACE, rolledOut } from "./support/mesh.ts";
import { networksSettled, NODE_AGENT, pluginCalls } from "./support/node_plugin.ts";
import { countPlainPackets, dials } from "./support/plain_packets.ts";
import { loseNetwork, runningContainers, startedAnew } from "./support/rollouts.ts";
import { until } from "./support/waiting.ts";
import { applyObjects, deployEcho, echoObjects, served, strictPolicy } from "./support/workloads.ts";

const test = clusterTests();

const NODE = "node1";

/** The pod that comes while something is away. It dials from its first instruction on. */
const APP = "dials";

/** Ends the node agents and keeps their set. The plugin stays. @returns the way back */
async function agentsAway(cluster: ClusterHandle): Promise<() => Promise<void>> {
  const choose = async (nodeSelector: Readonly<Record<string, string | null>>) => {
    const patch = JSON.stringify({ spec: { template: { spec: { nodeSelector } } } });
    await cluster.kubectl(["--namespace", MESH_NAMESPACE, "patch", NODE_AGENT, `--patch=${patch}`]);
  };
  await choose({ "mesh.io/test": "none" });
  const agents = ["--namespace", MESH_NAMESPACE, "get", "pods", "--selector=k8s-app=mesh-cni-node", "--output=name"];
  await until("the agents have ended", async () => (await cluster.kubectl(agents)).trim() === "");
  return async () => {
    await choose({ "mesh.io/test": null });
    await rolledOut(cluster, MESH_NAMESPACE, NODE_AGENT);
  };
}

/** Requires that all connections of the app's pod go by the tunnel, and that there are some. */
async function allByTunnel(cluster: ClusterHandle, namespace: string): Promise<void> {
  const [pod] = await podsOf(cluster, namespace, APP);
  assert.equal(pod?.redirection, "enabled");
  const own = async () => (await connections(cluster)).filter(({ uid, way }) => uid === pod.uid && way === "out");
  await until("a tunnel of the pod", async () => (await own()).some(({ refused }) => refused === undefined));
  assert.deepEqual([...new Set((await own()).map(({ by }) => by))], ["hbone"]);
}

test.long("pods whose network is made without the agent, or without the API, send no plain packet and join the mesh later", async ({ cluster, namespace }) => {
  const [inside, outside] = [await namespace(AMBIENT), await namespace()];
  const host = `web.${inside}.svc.cluster.local`;
  await using _agent = await ambientUntilEnd(cluster);
  await using _tunnels = await startTunnels(cluster);
  await applyObjects(cluster, [strictPolicy(inside)]);
  await Promise.all([
    deployEcho(cluster, { namespace: inside, name: "web", pod: { nodeName: NODE } }),
    deployEcho(cluster, { namespace: inside, name: "client", pod: { nodeName: NODE } }),
  ]);
  const client = { namespace: inside, workload: "deployment/client" };
  await served(cluster, client, `http://${host}/`);
  await using packets = await countPlainPackets(cluster, outside, host);
  const pod = async () => {
    const get = ["--namespace", inside, "get", "pods", `--selector=app=${APP}`];
    return (await cluster.kubectl([...get, "--output=jsonpath={.items[*].metadata.name}"])).trim();
  };
  const adds = async (name: string) =>
    (await pluginCalls(cluster, NODE)).filter((call) => call.command === "ADD" && call.pod === `${inside}/${name}`);

  const back = await agentsAway(cluster);
  try {
    const spec = { nodeName: NODE, terminationGracePeriodSeconds: 0 };
    const container = { command: dials(host) };
    await applyObjects(cluster, echoObjects({ namespace: inside, name: APP, args: [], container, pod: spec }));
    await until("the runtime asks the plugin", async () => (await adds(await pod())).length > 1);
    const calls = await adds(await pod());
    console.log(`without the agent: ${calls[0]!.outcome}`);
    assert.deepEqual(calls.filter(({ code }) => code === 0), []);
    await served(cluster, client, `http://${host}/`);
  } finally {
    await back();
  }
  await rolledOut(cluster, inside, `deployment/${APP}`);
  await allByTunnel(cluster, inside);
  await packets.noneEscaped();

  const [name, before] = [await pod(), (await adds(await pod())).length];
  await cluster.signalControl("kube-apiserver", "STOP");
  try {
    await loseNetwork(cluster, { node: NODE, namespace: inside, pod: name });
    await until("the runtime asks the plugin", async () => (await adds(name)).length > before);
    const [call] = (await adds(name)).slice(before);
    console.log(`without the API: ${call!.code} ${call!.outcome}, ${call!.took} ms`);
    if (call!.code !== 0) assert.equal((await runningContainers(cluster, NODE, inside)).length, 2);
  } finally {
    await cluster.signalControl("kube-apiserver", "CONT");
  }
  await startedAnew(cluster, inside, APP);
  await allByTunnel(cluster, inside);
  const { success, out } = await doctorOf(cluster, `${inside}/${await pod()}`);
  assert.ok(success, out);
  await packets.noneEscaped();
  console.log(`${await packets.neverAnswered()} packets of the outsider, none answered; 0 plain packets escaped`);
  await cluster.kubectl(["--namespace", inside, "delete", "deployments", "--all"]);
  await networksSettled(cluster);
});
