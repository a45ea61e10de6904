/** Two clusters with their own API servers and networks are one mesh, joined by a gateway in each cluster. */
import assert from "node:assert/strict";
import { Authority } from "../certificates.ts";
import { until } from "./support/waiting.ts";
import { kubeconfigOf } from "../orch/support/server/kubeconfig.ts";
import { defineLong, INJECTED } from "./support/cluster_tests.ts";
import type { ClusterHandle } from "./support/handle.ts";
import { linkClusters } from "./support/link.ts";
import { applyManifests, MESH_NAMESPACE, printManifests, rolledOut } from "./support/mesh.ts";
import { startCluster } from "./support/started_cluster.ts";
import { applyObjects, echoObjects, request } from "./support/workloads.ts";

const NAMESPACE = "shop";
const GATEWAY = { namespace: "mesh-eastwest", name: "mesh-eastwestgateway" } as const;

/** A cluster of the mesh, and its name there. */
interface MeshCluster {
  readonly name: string;
  readonly cluster: ClusterHandle;
}

/** Values of the installation for a cluster. */
function valuesOf(name: string) {
  return {
    meshd: { args: [`--clusterID=${name}`], replicas: 1, minAvailable: 0 },
    injector: { values: { global: { multiCluster: { clusterName: name }, network: name } } },
    gateways: [{
      ...GATEWAY,
      labels: { mesh: "eastwestgateway", "topology.mesh.io/network": name },
      ports: [{ name: "status-port", port: 15021 }, { name: "tls", port: 15443 }],
      ...{ autoscaling: false, replicas: 1, minAvailable: 0 },
    }],
  };
}

const CROSS_NETWORK = {
  apiVersion: "networking.mesh.io/v1",
  kind: "Gateway",
  metadata: { name: "cross-network", namespace: MESH_NAMESPACE },
  spec: {
    selector: { mesh: "eastwestgateway" },
    servers: [{
      port: { number: 15443, name: "tls", protocol: "TLS" },
      hosts: ["*.local"],
      tls: { mode: "AUTO_PASSTHROUGH" },
    }],
  },
};

/** Installs the mesh of a cluster, with the authority of both clusters. */
async function install({ name, cluster }: MeshCluster, authority: Authority): Promise<void> {
  const key = await authority.key();
  const files = { "ca-cert.pem": authority.certificate, "ca-key.pem": key, "root-cert.pem": authority.certificate };
  const labels = { "topology.mesh.io/network": name };
  await applyManifests(cluster, "definitions.yaml", "pilot-discovery.yaml", "remote-reader.yaml");
  await applyObjects(cluster, [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: MESH_NAMESPACE, labels } },
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "cacerts", namespace: MESH_NAMESPACE },
      stringData: { ...files, "cert-chain.pem": authority.certificate },
    },
  ]);
  await cluster.apply(await printManifests(valuesOf(name)));
  await rolledOut(cluster, MESH_NAMESPACE, "deployment/meshd");
  await applyObjects(cluster, [
    CROSS_NETWORK,
    { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE, labels: INJECTED } },
  ]);
  await rolledOut(cluster, GATEWAY.namespace, `deployment/${GATEWAY.name}`);
}

/** Lets the server of a cluster read another cluster, by the account of `manifests/remote-reader.yaml`. */
async function readsFrom(reader: MeshCluster, { name, cluster }: MeshCluster): Promise<void> {
  const secret = ["--namespace", MESH_NAMESPACE, "get", "secret", "mesh-reader-token"];
  const [token, ca] = await Promise.all(
    ["token", "ca\\.crt"].map(async (key) => atob(await cluster.kubectl([...secret, `-o=jsonpath={.data.${key}}`]))),
  );
  const server = `https://${cluster.network.control}:6443`;
  const text = kubeconfigOf({ server, ca: ca!, authorization: `Bearer ${token}` });
  await applyObjects(reader.cluster, [{
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: `remote-${name}`, namespace: MESH_NAMESPACE, labels: { "mesh/multiCluster": "true" } },
    stringData: { [name]: text },
  }]);
}

defineLong(
  "a client reaches the pods of a service in both clusters, the other cluster's through its gateway",
  async () => {
    await using one = await startCluster(["--number", "1"]);
    await using two = await startCluster(["--number", "2"]);
    await linkClusters(one.handle, two.handle);
    const [east, west] = [{ name: "east", cluster: one.handle }, { name: "west", cluster: two.handle }];
    const authority = await Authority.make("two clusters");
    await Promise.all([east, west].map((each) => install(each, authority)));
    await Promise.all([readsFrom(east, west), readsFrom(west, east)]);
    const web = (version: string, replicas: number) =>
      echoObjects({ namespace: NAMESPACE, name: "web", version, replicas });
    await applyObjects(east.cluster, [...web("east", 0), ...echoObjects({ namespace: NAMESPACE, name: "client" })]);
    await applyObjects(west.cluster, web("west", 1));
    await rolledOut(east.cluster, NAMESPACE, "deployment/client");
    await rolledOut(west.cluster, NAMESPACE, "deployment/web");
    const ask = async () => {
      const from = { namespace: NAMESPACE, workload: "deployment/client" };
      const { status, body } = await request(east.cluster, from, `http://web.${NAMESPACE}/`);
      return status === 200 ? JSON.parse(body!) : undefined;
    };
    await until("the pod in the other cluster answers", async () => (await ask())?.version === "west");
    assert.match(
      (await ask()).headers["x-forwarded-client-cert"],
      /URI=spiffe:\/\/cluster.local\/ns\/shop\/sa\/default/,
    );
    await applyObjects(east.cluster, web("east", 1));
    const answered = new Set<string>();
    await until(
      "pods of both clusters answer",
      async () => answered.add((await ask())?.version).size >= 2 && !answered.has(""),
    );
    await authority.remove();
  },
);
