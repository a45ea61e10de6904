/**
 * Tests on one real cluster with the mesh of this tree. All files of the group share the cluster, one after the other.
 *
 * The variable `MESH_TEST_CLUSTER` names the folder of a running cluster (`deno task cluster` prints the path of its
 * kubeconfig, which is in the folder). Without the variable a cluster is started for the file.
 *
 * Permissions: the permissions of `./main.ts`.
 *
 * @module
 */
import { startCluster, type StartedCluster } from "./started_cluster.ts";
import { ClusterHandle } from "./handle.ts";
import { installMesh } from "./mesh.ts";
import { noCluster } from "./programs.ts";

/** The argument of a test. */
export interface ClusterTest {
  readonly cluster: ClusterHandle;
  /** Makes a namespace with a name that no other test uses. The namespace is removed after the test. @returns the name */
  namespace(labels?: Readonly<Record<string, string>>): Promise<string>;
}

/** Registers a test. */
export type DefineClusterTest = (name: string, run: (test: ClusterTest) => Promise<void>) => void;

/** Registers tests. */
export interface ClusterTests extends DefineClusterTest {
  /** Registers a test of many minutes. Only `deno task cluster-long` runs such tests. */
  readonly long: DefineClusterTest;
}

/** Labels of a namespace whose pods get proxies. */
export const INJECTED: Readonly<Record<string, string>> = { "mesh-injection": "enabled" };

/**
 * Prepares the cluster before the tests of the calling file. Call once a file.
 *
 * @param mesh Whether the mesh is installed by the manifests, as the installation page says. Default: yes.
 * @param nodes Least number of nodes. Where the shared cluster has fewer, the file gets a cluster of its own. Default: 1.
 */
export function clusterTests(
  { mesh = true, nodes = 1 }: { readonly mesh?: boolean; readonly nodes?: number } = {},
): ClusterTests {
  let cluster: ClusterHandle | undefined;
  let own: StartedCluster | undefined;
  if (noCluster === undefined) {
    Deno.test.beforeAll(async () => {
      const folder = Deno.env.get("MESH_TEST_CLUSTER");
      const shared = folder === undefined ? undefined : new ClusterHandle(folder);
      if (shared === undefined || shared.nodes.length < nodes) own = await startCluster(["--nodes", String(nodes)]);
      cluster = own?.handle ?? shared!;
      if (mesh) await installMesh(cluster);
    });
    Deno.test.afterAll(async () => await own?.[Symbol.asyncDispose]());
  }
  const test: DefineClusterTest = (name, run) => define(name, () => withNamespaces(cluster!, run));
  const long: DefineClusterTest = (name, run) => defineLong(name, () => withNamespaces(cluster!, run));
  return Object.assign(test, { long });
}

/** Registers a test that starts its cluster itself. */
export function define(name: string, fn: () => Promise<void>): void {
  const ignore = noCluster !== undefined;
  Deno.test({ name: ignore ? `${name} (ignored: ${noCluster})` : name, ignore, fn });
}

/** Registers a test of many minutes that starts its clusters itself. Only `deno task cluster-long` runs such tests. */
export function defineLong(name: string, fn: () => Promise<void>): void {
  if (Deno.env.get("MESH_TEST_LONG") === "1") define(name, fn);
}

async function withNamespaces(cluster: ClusterHandle, run: (test: ClusterTest) => Promise<void>): Promise<void> {
  const made: string[] = [];
  const namespace = async (labels: Readonly<Record<string, string>> = {}) => {
    const metadata = { generateName: "test-", labels };
    const { metadata: { name } } = await cluster.objects.create({ apiVersion: "v1", kind: "Namespace", metadata });
    made.push(name);
    return name;
  };
  try {
    await run({ cluster, namespace });
  } finally {
    for (const name of made) {
      await cluster.kubectl(["delete", "pods", "--all", "--namespace", name, "--grace-period=0", "--force"]);
      await cluster.kubectl(["delete", "namespace", name, "--wait=false"]);
    }
  }
}
