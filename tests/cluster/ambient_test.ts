/**
 * The node agent of ambient mode with a real kubelet and containerd: pods are captured before they start, by the plugin,
 * or while they run, by the agent; what the tunnel does not carry does not get through. The tunnel is that of the tests.
 */
import assert from "node:assert/strict";
import { AMBIENT, ambientUntilEnd, connections, doctorOf, podsOf, questions, startTunnels } from "./support/ambient.ts";
import { clusterTests } from "./support/cluster_tests.ts";
import { MESH_NAMESPACE, rolledOut } from "./support/mesh.ts";
import { networksSettled, NODE_AGENT } from "./support/node_plugin.ts";
import { until } from "./support/waiting.ts";
import { applyObjects, deployEcho, echoObjects, request, served, strictPolicy } from "./support/workloads.ts";

const test = clusterTests();

const CLIENT = "deployment/client";

test("pods that start, pods that run and pods that leave: every connection of a captured pod goes through the tunnel", async ({ cluster, namespace }) => {
  const [inside, later] = [await namespace(AMBIENT), await namespace()];
  await deployEcho(cluster, { namespace: later, name: "web" });
  await using _agent = await ambientUntilEnd(cluster);
  // Without a tunnel no pod of an ambient namespace gets a network.
  await applyObjects(cluster, echoObjects({ namespace: inside, name: "client" }));
  await until("the runtime has asked the plugin", async () => {
    const events = ["--namespace", inside, "get", "events", "--output=jsonpath={.items[*].message}"];
    return (await cluster.kubectl(events)).includes("no node tunnel took the pod: no tunnel");
  });
  let tunnel = await startTunnels(cluster);
  try {
    await rolledOut(cluster, inside, CLIENT);
    await deployEcho(cluster, { namespace: inside, name: "web" });
    const [client] = await podsOf(cluster, inside, "client");
    const [web] = await podsOf(cluster, inside, "web");
    assert.deepEqual([client?.redirection, web?.redirection], ["enabled", "enabled"]);
    const from = { namespace: inside, workload: CLIENT };
    // The client's tunnel may learn later than the test that the server is captured.
    let seen = await connections(cluster);
    await until("a tunnel to the server", async () => {
      await served(cluster, from, `http://web.${inside}/`);
      seen = await connections(cluster);
      return seen.some(({ uid, way, by }) => uid === web!.uid && way === "in" && by === "hbone");
    });
    assert.ok(seen.some(({ uid, way }) => uid === client!.uid && way === "out"), JSON.stringify(seen));
    const arrived = seen.filter(({ uid, way }) => uid === web!.uid && way === "in");
    assert.deepEqual(arrived.filter(({ peer }) => peer !== client!.address), [], "probes do not go through the tunnel");
    const encrypted = { event: "connection", uid: web!.uid, way: "in", by: "hbone", target: `${web!.address}:8080` };
    const identity = `spiffe://cluster.local/ns/${inside}/sa/default`;
    assert.deepEqual(arrived.at(-1), { ...encrypted, peer: client!.address, identity });
    const service = ["--namespace", inside, "get", "service", "web", "--output=jsonpath={.spec.clusterIP}"];
    const known = [await cluster.kubectl(service)];
    const asked = (await questions(cluster)).filter(({ uid, name }) => uid === client!.uid && name?.startsWith("web."));
    assert.ok(asked.some(({ answer = [] }) => `${answer}` === `${known}`), `${known}: ${JSON.stringify(asked)}`);
    const { success, out } = await doctorOf(cluster, `${inside}/${web!.name}`);
    assert.ok(success, out);
    assert.match(out, /^captured$/m);
    // The node's nft may be older than the agent's, which has written a table there.
    for (const node of cluster.nodes) assert.match(await cluster.onNode(node, "nft list tables"), /mesh-probes/);

    // Under STRICT pods get ready, so probes pass, and plain text does not.
    const outside = { namespace: later, workload: "deployment/web" };
    await served(cluster, outside, `http://web.${inside}/`);
    await applyObjects(cluster, [strictPolicy(inside)]);
    await until(
      "plain text is refused",
      async () => (await request(cluster, outside, `http://web.${inside}/`)).status !== 200,
    );
    await deployEcho(cluster, { namespace: inside, name: "strict" });
    await served(cluster, from, `http://strict.${inside}/`);
    assert.notEqual((await request(cluster, outside, `http://strict.${inside}/`)).status, 200);

    // A pod that runs already comes in with the label of its namespace, and goes out without it.
    const label = (value: string) => cluster.kubectl(["label", "namespace", later, `mesh.io/dataplane-mode${value}`]);
    await label("=ambient");
    const redirection = async () => (await podsOf(cluster, later, "web"))[0]?.redirection;
    await until("the running pod is captured", async () => await redirection() === "enabled");
    await served(cluster, from, `http://web.${later}/`);
    const [running] = await podsOf(cluster, later, "web");
    assert.ok((await connections(cluster)).some(({ uid, way }) => uid === running!.uid && way === "in"));

    // Without a tunnel nothing gets through, also past an agent that starts again.
    await tunnel[Symbol.asyncDispose]();
    await cluster.kubectl(["--namespace", MESH_NAMESPACE, "rollout", "restart", NODE_AGENT]);
    for (const url of [`http://web.${inside}/`, `http://web.${later}/`]) {
      assert.notEqual((await request(cluster, from, url)).status, 200);
    }
    await rolledOut(cluster, MESH_NAMESPACE, NODE_AGENT);
    assert.equal(await redirection(), "enabled");
    assert.notEqual((await request(cluster, from, `http://web.${inside}/`)).status, 200);
    tunnel = await startTunnels(cluster);
    await served(cluster, from, `http://web.${inside}/`);

    await label("-");
    await until("the running pod is out", async () => await redirection() === undefined);
    const before = (await connections(cluster)).filter(({ uid }) => uid === running!.uid).length;
    await served(cluster, from, `http://web.${later}/`);
    assert.equal((await connections(cluster)).filter(({ uid }) => uid === running!.uid).length, before);
    await cluster.kubectl(["--namespace", inside, "delete", "deployments", "--all"]);
    await networksSettled(cluster);
  } finally {
    await tunnel[Symbol.asyncDispose]();
  }
});
