/**
 * The programs of a node are restarted and killed: pods of the mesh go on, and new pods join the mesh. A kubelet that
 * starts counts every pod with a readiness probe as not ready until the first probe. So pods on another node serve too.
 */
import { clusterTests, INJECTED } from "./support/cluster_tests.ts";
import { noneFailed } from "./support/rollouts.ts";
import { apart, applyObjects, deployEcho, served, startLoad, strictPolicy } from "./support/workloads.ts";

const test = clusterTests({ nodes: 2 });

const STEPS = [["kubelet", "TERM"], ["kubelet", "KILL"], ["containerd", "TERM"], ["containerd", "KILL"]] as const;

test.long("kubelet and containerd are restarted and killed under load, and no request fails", async ({ cluster, namespace }) => {
  const restarted = cluster.nodes[1]!;
  const name = await namespace(INJECTED);
  await applyObjects(cluster, [strictPolicy(name)]);
  await deployEcho(cluster, { namespace: name, name: "web", replicas: 2, pod: apart("web") });
  const url = `http://web.${name}/`;
  const load = await startLoad(cluster, { namespace: name, url });
  for (const [step, [program, signal]] of STEPS.entries()) {
    await cluster.restart(restarted, program, signal);
    const later = `later${step}`;
    await deployEcho(cluster, { namespace: name, name: later, pod: { nodeName: restarted } });
    const from = { namespace: name, workload: `deployment/${later}` };
    await served(cluster, from, url);
  }
  await noneFailed(cluster, { namespace: name, app: "web" }, load);
});
