/** A release of the charts is installed, upgraded, rolled back and removed by Helm, while applications are called. */
import assert from "node:assert/strict";
import { runTool, toolsFor } from "../charts/support/tools.ts";
import { defineLong, INJECTED } from "./support/cluster_tests.ts";
import type { ClusterHandle } from "./support/handle.ts";
import { MESH_NAMESPACE, rolledOut } from "./support/mesh.ts";
import { noneFailed } from "./support/rollouts.ts";
import { startCluster } from "./support/started_cluster.ts";
import { applyObjects, deployEcho, served, startLoad, strictPolicy } from "./support/workloads.ts";

const noHelm = toolsFor("helm");
const CHARTS = new URL("../../charts/", import.meta.url).pathname;
const NAMESPACE = "shop";

/** Helm with the releases of a namespace. */
function helmOf(cluster: ClusterHandle, namespace = MESH_NAMESPACE) {
  return (...args: readonly string[]) =>
    runTool("helm", [...args, "--namespace", namespace, "--kubeconfig", cluster.kubeconfig]);
}

/** The mesh configuration that servers read. */
async function meshConfiguration(cluster: ClusterHandle): Promise<string> {
  const get = ["--namespace", MESH_NAMESPACE, "get", "configmap", "mesh", "--output=jsonpath={.data.mesh}"];
  return await cluster.kubectl(get);
}

/** All that Helm says to be part of a release, and that is still there. */
async function leftOf(cluster: ClusterHandle, manifest: string): Promise<string> {
  return await cluster.kubectl(["get", "--ignore-not-found", "--output=name", "-f", "-"], manifest);
}

if (noHelm === undefined) {
  defineLong("Helm installs, upgrades, rolls back and removes the mesh, and no request fails", async () => {
    await using started = await startCluster();
    const cluster = started.handle;
    const helm = helmOf(cluster), gateways = helmOf(cluster, "mesh-ingress");
    await helm("install", "mesh-definitions", `${CHARTS}mesh-definitions`, "--create-namespace");
    await helm("install", "mesh", `${CHARTS}mesh`, "--wait", "--timeout=5m");
    await gateways("install", "mesh-gateways", `${CHARTS}mesh-gateways`, "--create-namespace", "--wait");
    await applyObjects(cluster, [
      { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE, labels: INJECTED } },
      strictPolicy(NAMESPACE),
    ]);
    await deployEcho(cluster, { namespace: NAMESPACE, name: "web", replicas: 2 });
    const load = await startLoad(cluster, { namespace: NAMESPACE, url: `http://web.${NAMESPACE}/` });

    const before = await meshConfiguration(cluster);
    const values = ["--set", "meshConfig.accessLogFile=/dev/stderr", "--set", "meshd.replicas=3"];
    await helm("upgrade", "mesh", `${CHARTS}mesh`, "--wait", "--timeout=5m", ...values);
    assert.match(await meshConfiguration(cluster), /accessLogFile: \/dev\/stderr/);
    await rolledOut(cluster, MESH_NAMESPACE, "deployment/meshd");
    await helm("rollback", "mesh", "1", "--wait", "--timeout=5m");
    assert.equal(await meshConfiguration(cluster), before);
    await deployEcho(cluster, { namespace: NAMESPACE, name: "later" });
    const from = { namespace: NAMESPACE, workload: "deployment/later" };
    await served(cluster, from, `http://web.${NAMESPACE}/`);
    await noneFailed(cluster, { namespace: NAMESPACE, app: "web" }, load);

    const manifest = await helm("get", "manifest", "mesh");
    assert.notEqual(await leftOf(cluster, manifest), "");
    await gateways("uninstall", "mesh-gateways", "--wait");
    await helm("uninstall", "mesh", "--wait");
    assert.equal(await leftOf(cluster, manifest), "");
    assert.match(
      await cluster.kubectl(["get", "customresourcedefinitions", "--output=name"]),
      /virtualservices\.networking/,
    );
    await deployEcho(cluster, { namespace: NAMESPACE, name: "outside" });
  });
}
