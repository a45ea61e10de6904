/**
 * Tests of rollouts under load: replaced pods, killed containers, and the causes of failed requests.
 *
 * @module
 */
import assert from "node:assert/strict";
import { until } from "./waiting.ts";
import type { ClusterHandle } from "./handle.ts";
import { rolledOut } from "./mesh.ts";
import type { Load, LoadResult } from "./workloads.ts";

/** Fewest requests of a load. Without this number, zero failures would prove nothing. */
const LEAST_SENT = 300;

/** Lines of access logs that a failed test shows. */
const SHOWN_LINES = 20;

/**
 * A container with this field serves for some more seconds when its pod ends. Kubernetes asks this of a server: the
 * pod's end begins at the same time as the removal of its address from callers.
 */
export const SERVES_ON = { lifecycle: { preStop: { sleep: { seconds: 5 } } } };

/** Restarts a workload, and waits until its old pods are gone. */
export async function restarted(cluster: ClusterHandle, namespace: string, workload: string): Promise<void> {
  const selector = await selectorOf(cluster, namespace, workload);
  const pods = async (...flags: readonly string[]) => {
    const text = await cluster.kubectl(["--namespace", namespace, "get", "pods", "--output=name", ...flags]);
    return text.trim().split("\n");
  };
  const old = await pods(`--selector=${selector}`);
  await cluster.kubectl(["--namespace", namespace, "rollout", "restart", workload]);
  await rolledOut(cluster, namespace, workload);
  await until("the old pods are gone", async () => {
    const present = new Set(await pods());
    return old.every((name) => !present.has(name));
  });
}

async function selectorOf(cluster: ClusterHandle, namespace: string, workload: string): Promise<string> {
  const labels = JSON.parse(
    await cluster.kubectl([
      ...["--namespace", namespace, "get", workload, "--output=jsonpath={.spec.selector.matchLabels}"],
    ]),
  ) as Record<string, string>;
  return Object.entries(labels).map(([name, value]) => `${name}=${value}`).join(",");
}

/**
 * Ends a load and requires that all its requests succeeded.
 *
 * @param servers The pods whose access logs explain failures.
 * @param from The pod of the load. Default: `load` in the servers' namespace.
 */
export async function noneFailed(
  cluster: ClusterHandle,
  servers: { readonly namespace: string; readonly app: string },
  load: Load,
  from: { readonly namespace: string; readonly pod: string } = { namespace: servers.namespace, pod: "load" },
): Promise<LoadResult> {
  const log = await accessLog(cluster, from.namespace, [from.pod]);
  const selector = [`--selector=app=${servers.app}`, "--prefix"];
  const serverLog = await accessLog(cluster, servers.namespace, selector);
  const result = await load.end();
  console.log(`sent ${result.sent}, failed ${result.failed}, slowest ${result.slowestMs} ms`);
  const failures = result.failures.map(({ at, error }) => `${at} ${error}`);
  const logs = ["access log of the caller:", ...log, "access logs of the servers:", ...serverLog];
  assert.equal(result.failed, 0, [...failures, ...logs].join("\n"));
  assert.ok(result.sent >= LEAST_SENT, `only ${result.sent} requests were sent`);
  return result;
}

/**
 * Lines of access logs with an error status or with response flags.
 *
 * @param of Arguments of `kubectl logs` that choose the pods.
 */
async function accessLog(
  cluster: ClusterHandle,
  namespace: string,
  of: readonly string[],
): Promise<readonly string[]> {
  const logs = ["--namespace", namespace, "logs", "--container=mesh-proxy", "--tail=20000"];
  const { out } = await cluster.tryKubectl([...logs, ...of]);
  return out.split("\n").filter((line) => /HTTP\/\S+" (?:[05]\d* |\d+ [A-Z])/.test(line)).slice(-SHOWN_LINES);
}

/** A container of a pod. */
export interface ContainerId {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** Ends a container by SIGKILL. */
export async function kill(cluster: ClusterHandle, id: ContainerId): Promise<void> {
  const [node, container] = await Promise.all([
    podField(cluster, id, "{.spec.nodeName}"),
    podField(cluster, id, `${statusOf(id)}.containerID}`),
  ]);
  await cluster.onNode(node, `ctr -n k8s.io tasks kill --signal SIGKILL ${container.replace("containerd://", "")}`);
}

/** Ends a container by SIGKILL, and waits until its pod is ready again. */
export async function killed(cluster: ClusterHandle, id: ContainerId): Promise<void> {
  const restarts = await podField(cluster, id, `${statusOf(id)}.restartCount}`);
  await kill(cluster, id);
  await until(`${id.pod} runs again`, async () => {
    const count = await podField(cluster, id, `${statusOf(id)}.restartCount}`);
    return count !== restarts && await podField(cluster, id, `${statusOf(id)}.ready}`) === "true";
  });
}

function statusOf({ container }: ContainerId): string {
  return `{.status.containerStatuses[?(@.name=="${container}")]`;
}

async function podField(cluster: ClusterHandle, { namespace, pod }: ContainerId, path: string): Promise<string> {
  return await cluster.kubectl(["--namespace", namespace, "get", "pod", pod, `--output=jsonpath=${path}`]);
}

interface ContainerStatus {
  readonly ready: boolean;
  readonly restartCount: number;
}

interface PodList {
  readonly items: readonly { readonly status: { readonly containerStatuses?: readonly ContainerStatus[] } }[];
}

/** Waits until all containers of an app have been started anew, and are ready. */
export async function startedAnew(cluster: ClusterHandle, namespace: string, app: string): Promise<void> {
  await until(`the pods of ${app} run again`, async () => {
    const get = ["--namespace", namespace, "get", "pods", `--selector=app=${app}`, "--output=json"];
    const { items }: PodList = JSON.parse(await cluster.kubectl(get));
    return items.every(({ status: { containerStatuses = [] } }) =>
      containerStatuses.length > 0 && containerStatuses.every(({ ready, restartCount }) => ready && restartCount > 0)
    );
  });
}

/** Ends the containers of a pod, and the container that holds its network: the kubelet makes a new network. */
export async function loseNetwork(
  cluster: ClusterHandle,
  { node, namespace, pod }: { readonly node: string; readonly namespace: string; readonly pod: string },
): Promise<void> {
  const filter = `labels."io.kubernetes.pod.name"==${pod},labels."io.kubernetes.pod.namespace"==${namespace}`;
  const ids = await cluster.onNode(node, `ctr -n k8s.io containers ls -q '${filter}'`);
  for (const id of ids.trim().split("\n")) {
    await cluster.onNode(node, `ctr -n k8s.io tasks kill --signal SIGKILL ${id} 2>/dev/null || true`);
  }
}

/** The running containers of a namespace on a node. */
export async function runningContainers(
  cluster: ClusterHandle,
  node: string,
  namespace: string,
): Promise<readonly string[]> {
  const filter = `labels."io.kubernetes.pod.namespace"==${namespace},labels."io.cri-containerd.kind"==container`;
  const script = `for id in $(ctr -n k8s.io containers ls -q '${filter}'); do ` +
    `ctr -n k8s.io tasks ls | grep "^$id .*RUNNING" || true; done`;
  return (await cluster.onNode(node, script)).split("\n").filter((line) => line !== "");
}
