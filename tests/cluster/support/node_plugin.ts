/**
 * The node's plugin on a cluster: installation as the user page says, the record of the plugin's calls, and the files
 * that the plugin may change.
 *
 * Permissions: read (the tree), the permissions of the cluster.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { ClusterHandle } from "./handle.ts";
import { configureInjector } from "./injector.ts";
import { applyManifests, deleteManifests, MANIFESTS, MESH_NAMESPACE, rolledOut } from "./mesh.ts";
import { until } from "./waiting.ts";

/** The plugin's daemon set. */
export const NODE_AGENT = "daemonset/mesh-cni-node";

/** A call of the plugin, as the node records the call. */
export interface PluginRow {
  readonly at: string;
  readonly command: string;
  readonly pod: string;
  /** 0: the call succeeded. */
  readonly code: number;
  readonly outcome: string;
  /** Time from the start of the plugin's process to its answer, ms. */
  readonly took: number;
}

/**
 * Installs the plugin on every node. Pods that are injected afterwards have no init container for redirection.
 *
 * @param variables Of the installer, beside those of the manifest.
 */
export async function installPlugin(
  cluster: ClusterHandle,
  variables: Readonly<Record<string, string>> = {},
): Promise<void> {
  await applyManifests(cluster, "install-cni.yaml");
  const pairs = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const text = await Deno.readTextFile(`${MANIFESTS}node-agent.yaml`);
  const set = ["set", "env", "--local", "-f", "-", "--output=yaml", ...pairs];
  await cluster.apply(pairs.length === 0 ? text : await cluster.kubectl(set, text), "--force-conflicts");
  await rolledOut(cluster, MESH_NAMESPACE, NODE_AGENT);
  await injectForPlugin(cluster, true);
}

/** Installs the plugin until the end of a test. */
export async function pluginUntilEnd(
  cluster: ClusterHandle,
  variables: Readonly<Record<string, string>> = {},
): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  stack.defer(() => removePlugin(cluster));
  await installPlugin(cluster, variables);
  return stack.move();
}

/** Replaces the installer by a version whose plugin has other bytes. */
export async function upgradeAgent(cluster: ClusterHandle, version: number): Promise<void> {
  const bundle = "/usr/local/lib/install-cni/plugin_entry.js";
  const script = `echo "// version ${version}" >>${bundle}; exec install-cni`;
  const container = { name: "install-cni", command: ["sh", "-c", script] };
  const patch = JSON.stringify({ spec: { template: { spec: { containers: [container] } } } });
  await cluster.kubectl(["--namespace", MESH_NAMESPACE, "patch", NODE_AGENT, `--patch=${patch}`]);
  await rolledOut(cluster, MESH_NAMESPACE, NODE_AGENT);
}

/** A pod, as far as its network is concerned. */
interface PodNetwork {
  readonly spec: { readonly hostNetwork?: boolean };
  readonly status: { readonly phase: string };
}

/**
 * Waits until the runtime has taken down the networks of ended pods, where all other pods run. A call of the plugin that
 * ends after the removal of the plugin would leave its record on the node.
 */
export async function networksSettled(cluster: ClusterHandle): Promise<void> {
  for (const node of cluster.nodes) {
    await until(`the networks of ended pods are gone from ${node}`, async () => {
      const present = (await cluster.onNode(node, "ls /run/netns | wc -l")).trim();
      const get = ["get", "pods", "--all-namespaces", `--field-selector=spec.nodeName=${node}`, "--output=json"];
      const { items } = JSON.parse(await cluster.kubectl(get)) as { readonly items: readonly PodNetwork[] };
      const own = items.filter(({ spec, status }) => !spec.hostNetwork && status.phase === "Running");
      return Number(present) <= own.length;
    });
  }
}

/** Removes the plugin. Resolves when the daemon set and its pods are gone. */
export async function removePlugin(cluster: ClusterHandle): Promise<void> {
  await injectForPlugin(cluster, false);
  await deleteManifests(cluster, "node-agent.yaml");
  const pods = ["get", "pods", "--namespace", MESH_NAMESPACE, "-l=k8s-app=mesh-cni-node", "-o=name"];
  await until("the installers have ended", async () => (await cluster.kubectl(pods)).trim() === "");
}

/** Sets whether injection relies on the plugin, and waits until all servers do so. */
export async function injectForPlugin(cluster: ClusterHandle, enabled: boolean): Promise<void> {
  const values = `global:\n  hub: docker.io/mesh\n  tag: "0.1.0"\n${
    enabled ? "pilot:\n  cni:\n    enabled: true\n" : ""
  }`;
  const wanted = enabled ? "mesh-validation" : "mesh-init";
  await configureInjector(
    cluster,
    { values },
    ({ spec: { initContainers = [] } }) => initContainers.some(({ name }) => name === wanted),
  );
}

/** The calls that a node records, oldest first. */
export async function pluginCalls(cluster: ClusterHandle, node = "node1"): Promise<readonly PluginRow[]> {
  const folder = "/run/mesh-cni";
  const text = await cluster.onNode(node, `cat ${folder}/calls.jsonl.1 ${folder}/calls.jsonl 2>/dev/null || true`);
  return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

/** Findings of `install-cni doctor` on one node, without notes. */
export async function doctor(
  cluster: ClusterHandle,
): Promise<readonly { severity: string; about: string; text: string }[]> {
  const exec = ["--namespace", MESH_NAMESPACE, "exec", NODE_AGENT, "--", "install-cni", "doctor", "-o=json"];
  const { out, err } = await cluster.tryKubectl(exec);
  assert.ok(out.startsWith("{"), `no answer of the doctor: ${err}`);
  return JSON.parse(out).findings.filter(({ severity }: { severity: string }) => severity !== "note");
}

/** Everything that the plugin may change on a node, as text: names, modes, sizes and contents. */
export async function nodeFiles(cluster: ClusterHandle, node = "node1"): Promise<string> {
  return await cluster.onNode(
    node,
    "cd /etc/cni/net.d && find . -type f -printf '%p %m %U:%G\\n' | sort && find . -type f | sort | xargs sha256sum; " +
      "cd /opt/cni/bin && find . -printf '%p %m %s\\n' | sort",
  );
}
