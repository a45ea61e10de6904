/** On a cluster of two nodes, a load of 100 requests a second goes on while a node is drained. */
import assert from "node:assert/strict";
import { clusterTests, INJECTED } from "./support/cluster_tests.ts";
import { rolledOut } from "./support/mesh.ts";
import { noneFailed, SERVES_ON } from "./support/rollouts.ts";
import { applyObjects, deployEcho, startLoad } from "./support/workloads.ts";

const test = clusterTests({ nodes: 2 });

/** Puts pods of an app on different nodes as far as nodes are there. */
function spread(app: string): Record<string, unknown> {
  const labelSelector = { matchLabels: { app } };
  const constraint = { maxSkew: 1, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "ScheduleAnyway" };
  return { topologySpreadConstraints: [{ ...constraint, labelSelector }] };
}

test.long("a drained node with half of the pods, and a server, fails no request", async ({ cluster, namespace }) => {
  const [kept, drained] = cluster.nodes as [string, string];
  const name = await namespace(INJECTED);
  await deployEcho(cluster, { namespace: name, name: "web", replicas: 4, pod: spread("web"), container: SERVES_ON });
  const spec = { minAvailable: 2, selector: { matchLabels: { app: "web" } } };
  const budget = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "web", namespace: name } };
  await applyObjects(cluster, [{ ...budget, spec }]);
  const places = async () => {
    const pods = ["--namespace", name, "get", "pods", "--selector=app=web"];
    const nodes = await cluster.kubectl([...pods, "--output=jsonpath={.items[*].spec.nodeName}"]);
    return new Set(nodes.split(" "));
  };
  assert.deepEqual(await places(), new Set([kept, drained]));
  await cluster.kubectl(["cordon", drained]);
  const load = await startLoad(cluster, { namespace: name, url: `http://web.${name}/` });
  try {
    await cluster.kubectl(["drain", drained, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=120s"]);
    await rolledOut(cluster, name, "deployment/web");
    assert.deepEqual(await places(), new Set([kept]));
    await noneFailed(cluster, { namespace: name, app: "web" }, load);
  } finally {
    await cluster.kubectl(["uncordon", drained]);
  }
});
