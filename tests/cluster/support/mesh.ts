/**
 * The mesh of this tree on a cluster, installed as the installation page says.
 *
 * Permissions: read (the tree), the permissions of the cluster.
 *
 * @module
 */
import type { ClusterHandle } from "./handle.ts";
import { until } from "./waiting.ts";

/** Folder of the manifests. */
export const MANIFESTS = new URL("../../../manifests/", import.meta.url).pathname;

/** The namespace of the server. */
export const MESH_NAMESPACE = "mesh-system";

/** Longest wait for a rollout. A busy machine needs most of a minute to start two servers. */
export const ROLLOUT = "--timeout=180s";

/** Applies manifests of the tree, by server-side apply. */
export async function applyManifests(cluster: ClusterHandle, ...names: readonly string[]): Promise<string> {
  const files = names.flatMap((name) => ["-f", `${MANIFESTS}${name}`]);
  return await cluster.kubectl(["apply", "--server-side", ...files]);
}

/** The objects of an installation with other values than the defaults, as `pilot-discovery manifests` prints them. */
export async function printManifests(values: unknown, ...flags: readonly string[]): Promise<string> {
  const file = await Deno.makeTempFile({ suffix: ".json" });
  await Deno.writeTextFile(file, JSON.stringify(values));
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "pilot-discovery", "manifests", `--values=${file}`, ...flags],
    ...{ cwd: new URL("../../../", import.meta.url), stdin: "null" },
  }).output();
  await Deno.remove(file);
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

/** Removes manifests of the tree. An object that does not exist is not an error. */
export async function deleteManifests(cluster: ClusterHandle, ...names: readonly string[]): Promise<string> {
  const files = names.flatMap((name) => ["-f", `${MANIFESTS}${name}`]);
  return await cluster.kubectl(["delete", "--ignore-not-found", ...files]);
}

/** Waits until all pods of a workload have the present version of the template, and are ready. */
export async function rolledOut(cluster: ClusterHandle, namespace: string, workload: string): Promise<void> {
  await cluster.kubectl(["--namespace", namespace, "rollout", "status", workload, ROLLOUT]);
}

/** Installs the mesh, unless it is installed. Resolves when two servers are ready and pods are injected. */
export async function installMesh(cluster: ClusterHandle): Promise<void> {
  const { success } = await cluster.tryKubectl(["get", "mutatingwebhookconfiguration", "mesh-sidecar-injector"]);
  if (success) return;
  await applyManifests(cluster, "definitions.yaml");
  await applyManifests(cluster, "pilot-discovery.yaml", "meshd.yaml");
  await rolledOut(cluster, MESH_NAMESPACE, "deployment/meshd");
  await applyManifests(cluster, "webhooks.yaml");
  await bundlePatched(cluster, "mutatingwebhookconfiguration/mesh-sidecar-injector");
  await bundlePatched(cluster, "validatingwebhookconfiguration/mesh-mesh-system");
}

/**
 * Waits until a server has written its root certificates into webhooks. Before, the API server cannot call the
 * webhooks.
 */
export async function bundlePatched(cluster: ClusterHandle, webhooks: string): Promise<void> {
  const get = ["get", webhooks, "--output=jsonpath={.webhooks[*].clientConfig.caBundle}"];
  await until(`a server has written the bundle of ${webhooks}`, async () => (await cluster.kubectl(get)).trim() !== "");
}
