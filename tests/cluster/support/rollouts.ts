/**
 * Replaced pods.
 *
 * @module
 */
import { until } from "../../patience.ts";
import type { ClusterHandle } from "./handle.ts";
import { rolledOut } from "./mesh.ts";

/** Restarts a workload, and waits until its old pods are gone. */
export async function restarted(cluster: ClusterHandle, namespace: string, workload: string): Promise<void> {
  const pods = async () => {
    const text = await cluster.kubectl(["--namespace", namespace, "get", "pods", "--output=name"]);
    return new Set(text.trim().split("\n"));
  };
  const selector = await selectorOf(cluster, namespace, workload);
  const own = ["--namespace", namespace, "get", "pods", `--selector=${selector}`, "--output=name"];
  const old = (await cluster.kubectl(own)).trim().split("\n");
  await cluster.kubectl(["--namespace", namespace, "rollout", "restart", workload]);
  await rolledOut(cluster, namespace, workload);
  await until("the old pods are gone", async () => {
    const present = await pods();
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
