/**
 * A cluster with Gateway API's definitions, the images of the suite's manifests, and the mesh of this tree.
 *
 * Permissions: the permissions of the cluster; env (GO), run (go).
 *
 * @module
 */
import type { ImageName } from "../../../scripts/images/description.ts";
import { startClusterProcess } from "../../../scripts/test/cluster_process.ts";
import { ClusterHandle } from "../../cluster/support/handle.ts";
import { CLUSTER_IMAGES, imageArchives } from "../../cluster/support/images.ts";
import { applyManifests, installMesh, MESH_NAMESPACE, rolledOut, ROLLOUT } from "../../cluster/support/mesh.ts";
import type { StartedCluster } from "../../cluster/support/started_cluster.ts";
import { definitionFiles, type GatewayApiVersion } from "./definitions.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

/** Images that the manifests of a suite name. */
const SUITE_IMAGES: Readonly<Record<GatewayApiVersion, readonly ImageName[]>> = {
  "v1.6.1": ["conformance-server", "conformance-echo", "conformance-dns"],
  "v1.3.0": ["conformance-server-v1.3", "conformance-echo", "conformance-dns"],
  inference: ["conformance-server", "conformance-picker"],
};

/** Starts a cluster whose nodes have the images of the mesh and of the suite's manifests. */
export async function startConformanceCluster(version: GatewayApiVersion): Promise<StartedCluster> {
  const archives = await imageArchives([...CLUSTER_IMAGES, ...SUITE_IMAGES[version]]);
  const cluster = await startClusterProcess(ROOT, archives.map((path) => `--images=${path}`));
  return { handle: new ClusterHandle(cluster.folder), [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose]() };
}

/** Loads images of this tree into the nodes of a running cluster. Pods that start later have them. */
async function loadImages(cluster: ClusterHandle, names: readonly ImageName[]): Promise<void> {
  const archives = await imageArchives(names);
  for (const node of cluster.nodes) {
    for (const path of archives) await cluster.onNode(node, `ctr -n k8s.io images import ${path} >/dev/null`);
  }
}

/** Applies the definitions, unless the cluster has them, and waits until the API server serves the kinds. */
async function applyDefinitions(cluster: ClusterHandle, version: GatewayApiVersion): Promise<void> {
  if (await installedVersion(cluster) === version) return;
  const files = (await definitionFiles(version)).flatMap((path) => ["-f", path]);
  await cluster.kubectl(["apply", "--server-side", "--force-conflicts", ...files]);
  await cluster.kubectl(["wait", "--for=condition=Established", ROLLOUT, ...files]);
}

/** The version of the definitions in a cluster. Undefined if there are none. */
async function installedVersion(cluster: ClusterHandle): Promise<string | undefined> {
  const path = "{.metadata.annotations.gateway\\.networking\\.k8s\\.io/bundle-version}";
  const get = ["get", "customresourcedefinition", "httproutes.gateway.networking.k8s.io", `--output=jsonpath=${path}`];
  const { success, out } = await cluster.tryKubectl(get);
  return success ? out : undefined;
}

/** Installs the definitions and the mesh, unless they are installed. */
export async function prepare(cluster: ClusterHandle, version: GatewayApiVersion): Promise<void> {
  await applyDefinitions(cluster, version);
  await installMesh(cluster);
  await setSettings(cluster, version);
}

/** Settings of the servers without which some tests of a suite cannot pass. */
const SETTINGS: Readonly<Record<GatewayApiVersion, readonly string[]>> = {
  // The feature MeshClusterIPMatching.
  "v1.6.1": ["MESH_HTTP_BY_ADDRESS=true"],
  // TLSRoutes have an alpha version only.
  "v1.3.0": ["MESH_HTTP_BY_ADDRESS=true", "PILOT_ENABLE_ALPHA_GATEWAY_API=true"],
  inference: ["ENABLE_GATEWAY_API_INFERENCE_EXTENSION=true"],
};

async function setSettings(cluster: ClusterHandle, version: GatewayApiVersion): Promise<void> {
  await cluster.kubectl(["--namespace", MESH_NAMESPACE, "set", "env", "deployment/meshd", ...SETTINGS[version]]);
  await rolledOut(cluster, MESH_NAMESPACE, "deployment/meshd");
}

/** Replaces the servers and the images of a running cluster with those of this tree. */
export async function updateMesh(cluster: ClusterHandle, version: GatewayApiVersion): Promise<void> {
  await loadImages(cluster, ["pilot-discovery", "proxy", ...SUITE_IMAGES[version]]);
  await applyManifests(cluster, "definitions.yaml", "pilot-discovery.yaml", "meshd.yaml");
  await cluster.kubectl(["--namespace", MESH_NAMESPACE, "rollout", "restart", "deployment/meshd"]);
  await setSettings(cluster, version);
}
