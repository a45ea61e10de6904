/**
 * The node's plugin behind Debian's `bridge`, called by containerd: pods are redirected without an init container that
 * needs a capability, and the node is as before when the plugin is gone.
 */
import assert from "node:assert/strict";
import { clusterTests, INJECTED } from "./support/cluster_tests.ts";
import { doctor, installPlugin, networksSettled, nodeFiles, pluginCalls, removePlugin } from "./support/node_plugin.ts";
import { applyObjects, deployEcho, request, served, strictPolicy, UNPRIVILEGED } from "./support/workloads.ts";
import { until } from "./support/waiting.ts";

const test = clusterTests();

/** The strictest level of PodSecurity: no root, no capability, no privilege. */
const RESTRICTED = { "pod-security.kubernetes.io/enforce": "restricted" };

test("behind bridge, restricted pods are redirected, others are left alone, and removal restores the node", async ({ cluster, namespace }) => {
  const before = await nodeFiles(cluster);
  await installPlugin(cluster);
  try {
    assert.notEqual(await nodeFiles(cluster), before);
    const [inside, outside] = [await namespace({ ...INJECTED, ...RESTRICTED }), await namespace()];
    await Promise.all([
      deployEcho(cluster, { namespace: inside, name: "web", replicas: 2, ...UNPRIVILEGED }),
      deployEcho(cluster, { namespace: inside, name: "client", ...UNPRIVILEGED }),
      deployEcho(cluster, { namespace: outside, name: "client" }),
      deployEcho(cluster, { namespace: outside, name: "plain" }),
    ]);
    const pods = await cluster.kubectl(["get", "pods", "--namespace", inside, "-o=json"]);
    assert.doesNotMatch(pods, /NET_ADMIN|NET_RAW|mesh-init/);
    assert.match(pods, /mesh-validation/);

    const url = `http://web.${inside}/`;
    const [insider, stranger] = [inside, outside].map((name) => ({ namespace: name, workload: "deployment/client" }));
    await served(cluster, stranger!, url);
    await applyObjects(cluster, [strictPolicy(inside)]);
    await until("plain text is refused", async () => (await request(cluster, stranger!, url)).status !== 200);
    const { body } = await served(cluster, insider!, url);
    const caller = JSON.parse(body!).headers["x-forwarded-client-cert"];
    assert.match(caller, new RegExp(`spiffe://cluster.local/ns/${inside}/sa/default`));
    await served(cluster, stranger!, `http://plain.${outside}/`);

    const adds = (await pluginCalls(cluster)).filter(({ command }) => command === "ADD");
    const of = (namespace: string) => adds.filter(({ pod }) => pod.startsWith(`${namespace}/`));
    assert.ok(of(outside).every(({ outcome }) => outcome.startsWith("passed on")), JSON.stringify(of(outside)));
    assert.equal(of(inside).filter(({ outcome }) => outcome.startsWith("redirected")).length, 3);
    const times = adds.map(({ took }) => took).sort((a, b) => a - b);
    const median = times[times.length >> 1]!;
    console.log(`${times.length} calls of ADD: median ${median} ms, slowest ${times.at(-1)} ms`);
    assert.deepEqual((await doctor(cluster)).filter(({ severity }) => severity !== "ok"), []);
    await networksSettled(cluster);
  } finally {
    await removePlugin(cluster);
  }
  assert.equal(await nodeFiles(cluster), before);
  assert.equal((await cluster.onNode("node1", "ls -A /run/mesh-cni")).trim(), "install.lock");
});
