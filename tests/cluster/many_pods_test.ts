/** Two hundred pods beside real pods: the cost for the servers, and the effect on the real pods. */
import assert from "node:assert/strict";
import { builtProgram } from "../../scripts/orchestrator/binaries.ts";
import { parseUsage } from "../bench/mesh/usage.ts";
import { builtPrograms } from "../orch/support/server/programs.ts";
import { clusterTests, INJECTED } from "./support/cluster_tests.ts";
import type { ClusterHandle } from "./support/handle.ts";
import { MESH_NAMESPACE, rolledOut } from "./support/mesh.ts";
import { noneFailed } from "./support/rollouts.ts";
import { until } from "./support/waiting.ts";
import { applyObjects, deployEcho, echoObjects, startLoad } from "./support/workloads.ts";

const test = clusterTests();

const PODS = 200;

/** Nodes without a kubelet, for 110 pods each. */
const NODES = ["fake1", "fake2"];
const FAKE = { key: "kwok.x-k8s.io/node", value: "fake" } as const;

/** What kwok does with nodes and pods. */
const STAGES = new URL("./kwok/stages.yaml", import.meta.url).pathname;

function fakeNode(name: string): object {
  const capacity = { cpu: "64", memory: "256Gi", pods: "110" };
  return {
    ...{ apiVersion: "v1", kind: "Node" },
    metadata: { name, annotations: { [FAKE.key]: FAKE.value }, labels: { type: FAKE.value } },
    spec: { taints: [{ ...FAKE, effect: "NoSchedule" }] },
    status: { capacity, allocatable: capacity },
  };
}

/** Runs kwok, which plays the kubelet of the fake nodes, until disposed of. */
function startKwok(cluster: ClusterHandle): AsyncDisposable {
  const child = new Deno.Command(builtProgram("kwok")!, {
    args: [
      ...[`--kubeconfig=${cluster.kubeconfig}`, `--config=${STAGES}`, "--node-lease-duration-seconds=40"],
      ...["--manage-all-nodes=false", `--manage-nodes-with-annotation-selector=${FAKE.key}=${FAKE.value}`],
    ],
    ...{ stdin: "null", stdout: "null", stderr: "piped" },
  }).spawn();
  const errors = new Response(child.stderr).text();
  let ended = false;
  void child.status.then(() => (ended = true));
  return {
    [Symbol.asyncDispose]: async () => {
      if (ended) console.log(`kwok ended by itself: ${(await errors).slice(-2000)}`);
      else child.kill("SIGTERM");
      await Promise.all([child.status, errors]);
    },
  };
}

/** Processor time of all servers so far, s. */
async function serverCpu(cluster: ClusterHandle): Promise<number> {
  const get = ["--namespace", MESH_NAMESPACE, "get", "pods", "--selector=app=meshd", "--output=name"];
  const pods = (await cluster.kubectl(get)).trim().split("\n");
  const times = await Promise.all(pods.map(async (pod) => {
    const exec = ["--namespace", MESH_NAMESPACE, "exec", pod, "--container=discovery", "--"];
    return parseUsage(await cluster.kubectl([...exec, "cat", "/proc/1/stat", "/proc/1/status"])).cpu;
  }));
  return times.reduce((sum, seconds) => sum + seconds, 0);
}

/** Endpoints of a service that the proxy of a workload has. */
async function endpointsAt(cluster: ClusterHandle, namespace: string, workload: string, host: string): Promise<number> {
  const exec = ["--namespace", namespace, "exec", workload, "--container=mesh-proxy", "--"];
  const { out } = await cluster.tryKubectl([...exec, "pilot-agent", "request", "GET", "clusters"]);
  const lines = out.split("\n").filter((line) =>
    line.startsWith(`outbound|80||${host}::`) && line.includes("::cx_active")
  );
  return lines.length;
}

test.long("two hundred pods start and end beside real pods, whose requests do not fail", async ({ cluster, namespace }) => {
  await builtPrograms(["kwok"]);
  const [real, fake] = [await namespace(INJECTED), await namespace(INJECTED)];
  await deployEcho(cluster, { namespace: real, name: "web", replicas: 2 });
  const load = await startLoad(cluster, { namespace: real, url: `http://web.${real}/` });
  await cluster.apply(JSON.stringify({ apiVersion: "v1", kind: "List", items: NODES.map(fakeNode) }));
  await using _kwok = startKwok(cluster);
  try {
    const pod = { nodeSelector: { type: FAKE.value }, tolerations: [{ ...FAKE, effect: "NoSchedule" }] };
    const before = await serverCpu(cluster);
    const started = Date.now();
    await applyObjects(cluster, echoObjects({ namespace: fake, name: "many", replicas: PODS, pod }));
    await rolledOut(cluster, fake, "deployment/many");
    const host = `many.${fake}.svc.cluster.local`;
    await until("the proxy of a real pod has all endpoints", async () => {
      return await endpointsAt(cluster, real, "deployment/web", host) === PODS;
    });
    const [seconds, cpu] = [(Date.now() - started) / 1000, await serverCpu(cluster) - before];
    console.log(`${PODS} pods in ${seconds.toFixed(0)} s; the servers used ${cpu.toFixed(1)} s of a processor`);
    await cluster.kubectl(["--namespace", fake, "scale", "deployment/many", "--replicas=0"]);
    await until("the proxy of a real pod has no endpoint left", async () => {
      return await endpointsAt(cluster, real, "deployment/web", host) === 0;
    });
    await noneFailed(cluster, { namespace: real, app: "web" }, load);
    assert.ok(cpu < PODS, "the servers use less than a second for each pod");
  } finally {
    for (const node of NODES) await cluster.kubectl(["delete", "node", node]);
  }
});
