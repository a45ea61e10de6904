/** The documented steps of the removal leave nothing of the mesh, and pods can be created afterwards. */
import assert from "node:assert/strict";
import { clusterTests, INJECTED } from "./support/cluster_tests.ts";
import type { ClusterHandle } from "./support/handle.ts";
import { deleteManifests } from "./support/mesh.ts";
import { restarted } from "./support/rollouts.ts";
import { deployEcho, served } from "./support/workloads.ts";

const test = clusterTests();

interface ListedObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

/** All objects of the API whose name or labels are the mesh's, except events. */
async function meshObjects(cluster: ClusterHandle): Promise<readonly string[]> {
  const kinds = (await cluster.kubectl(["api-resources", "--verbs=list", "--output=name"])).trim().split("\n")
    .filter((kind) => !/^events(\.|$)/.test(kind));
  const list = await cluster.kubectl(["get", kinds.join(","), "--all-namespaces", "--output=json"]);
  const { items } = JSON.parse(list) as { items: readonly ListedObject[] };
  return items
    .filter(({ metadata: { name, labels = {} } }) =>
      /\bmesh|meshd|mesh\.io/.test([name, ...Object.entries(labels).flat()].join(" "))
    )
    .map(({ kind, metadata: { name, namespace = "" } }) => `${kind} ${namespace}/${name}`);
}

test("after the steps of the page no object of the mesh is left", async ({ cluster, namespace }) => {
  const name = await namespace(INJECTED);
  await deployEcho(cluster, { namespace: name, name: "web" });
  const containers = async () =>
    await cluster.kubectl([
      ...["--namespace", name, "get", "pods", "--output=jsonpath={.items[*].spec.containers[*].name}"],
    ]);
  assert.match(await containers(), /mesh-proxy/);
  assert.notDeepEqual(await meshObjects(cluster), []);

  await deleteManifests(cluster, "webhooks.yaml");
  await cluster.kubectl(["label", "namespaces", "--all", "mesh-injection-", "mesh.io/rev-"]);
  await restarted(cluster, name, "deployment/web");
  assert.equal(await containers(), "app");
  await deleteManifests(cluster, "gateway.yaml", "meshd.yaml", "one-proxy.yaml");
  await deleteManifests(cluster, "pilot-discovery.yaml", "install-cni.yaml");
  const namespaces = (await cluster.kubectl(["get", "namespaces", "--output=name"])).trim().split("\n");
  for (const path of namespaces) {
    const [, owner = ""] = path.split("/");
    await cluster.kubectl(["--namespace", owner, "delete", "configmap", "mesh-ca-root-cert", "--ignore-not-found"]);
  }
  await cluster.tryKubectl(["delete", "clustertrustbundle", "mesh.io:meshd-ca:root-cert"]);
  await deleteManifests(cluster, "definitions.yaml");
  assert.deepEqual(await meshObjects(cluster), []);

  await deployEcho(cluster, { namespace: name, name: "later" });
  await served(cluster, { namespace: name, workload: "deployment/later" }, `http://web.${name}/`);
});
