/** What proxies of two clusters get, by two real API servers and a real Envoy in each cluster. */
import assert from "node:assert/strict";
import { decodeNameTable } from "../../../lib/dns/table/name_table_wire.ts";
import { page } from "../../discovery/running.ts";
import { envoyPath } from "../../e2e/support/mesh.ts";
import { dialled, withEnvoys } from "../support/cluster_envoys.ts";
import { namespaceDraft, serviceDraft, sliceDraft } from "../support/drafts.ts";
import {
  clusterSecret,
  putService,
  serveClusters,
  type TwoClusters,
  twoClusterTests,
} from "../support/two_clusters.ts";
import { until } from "../../patience.ts";

const test = twoClusterTests();
const binary = envoyPath();
const OWN = "10.1.0", WEST = "10.2.0";

/** A headless service whose pod has its own host name. */
async function putHeadless(
  { objects }: TwoClusters["own"],
  namespace: string,
  pod: string,
  address: string,
): Promise<void> {
  await objects.apply(serviceDraft(namespace, "db", { spec: { clusterIP: "None" } }));
  await objects.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace, name: "default" } });
  const draft = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace, name: pod, labels: { app: "db" } },
    spec: { hostname: pod, subdomain: "db", containers: [{ name: "app", image: "none" }] },
  };
  const status = {
    phase: "Running",
    podIP: address,
    podIPs: [{ ip: address }],
    conditions: [{ type: "Ready", status: "True" }],
  };
  await objects.apply(draft);
  await objects.patch(draft, { status }, "status");
  const slice = sliceDraft(namespace, "db", []);
  const targetRef = { kind: "Pod", namespace, name: pod };
  await objects.apply({ ...slice, endpoints: [{ addresses: [address], conditions: { ready: true }, targetRef }] });
}

/** Two clusters with the same services, other addresses, and a gateway of each network. @param third Part of the addresses of services. */
async function prepare({ own, remote, namespace }: TwoClusters, third: number): Promise<void> {
  for (const [server, prefix, network] of [[own, OWN, "east-net"], [remote, WEST, "west-net"]] as const) {
    await server.objects.apply(namespaceDraft(namespace, {}));
    await putService(server, namespace, "cart", [`${prefix}.1`], {
      clusterIP: `10.96.${third}.${prefix === OWN ? 1 : 2}`,
    });
    await putService(server, namespace, "local", [`${prefix}.2`]);
    await putHeadless(server, namespace, prefix === OWN ? "db-east" : "db-west", `${prefix}.3`);
    await server.objects.apply(serviceDraft(namespace, "edge", {
      labels: { "topology.istio.io/network": network },
      spec: { type: "LoadBalancer", ports: [{ name: "tls", port: 15443, protocol: "TCP" }] },
    }));
    const status = { loadBalancer: { ingress: [{ ip: prefix === OWN ? "192.0.2.1" : "192.0.2.2" }] } };
    await server.objects.patch(serviceDraft(namespace, "edge"), { status }, "status");
  }
  const hosts = [`local.${namespace}.svc.cluster.local`];
  const mesh = JSON.stringify({ serviceSettings: [{ settings: { clusterLocal: true }, hosts }] });
  await own.objects.apply({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace, name: "mesh" },
    data: { mesh },
  });
  const access = await Deno.readTextFile(remote.kubeconfig);
  await own.objects.apply(clusterSecret(namespace, "clusters", { west: access }));
}

test("an Envoy in each cluster dials the endpoints of all clusters, uses the address of its own cluster, and stays in its cluster if the mesh configuration says so", async (clusters) => {
  if (binary === undefined) return;
  const { namespace, remote } = clusters;
  await prepare(clusters, 7);
  const options = { systemNamespace: namespace };
  await serveClusters(clusters, async ({ ports }) => {
    await withEnvoys(ports.grpc, namespace, async (east, west) => {
      const all = async (service: string) =>
        await Promise.all([east, west].map((one) => dialled(one, namespace, service)));
      const become = (service: string, expected: readonly string[]) =>
        until(`endpoints of ${service}`, async () => JSON.stringify(await all(service)) === JSON.stringify(expected));
      await become("cart", [`${OWN}.1,${WEST}.1`, `${OWN}.1,${WEST}.1`]);
      await become("local", [`${OWN}.2`, `${WEST}.2`]);
      for (
        const [envoy, mine, other] of [[east, "10.96.7.1", "10.96.7.2"], [west, "10.96.7.2", "10.96.7.1"]] as const
      ) {
        const dump = async () => await (await fetch(`http://127.0.0.1:${envoy.adminPort}/config_dump`)).text();
        await until("the address of the cluster", async () => (await dump()).includes(`"${mine}"`));
        assert.doesNotMatch(await dump(), new RegExp(`"${other}"`));
      }
      await putService(remote, namespace, "cart", [`${WEST}.7`]);
      await become("cart", [`${OWN}.1,${WEST}.7`, `${OWN}.1,${WEST}.7`]);
    });
    const networks = JSON.parse((await page(ports.http, "/debug/networkz")).body);
    assert.deepEqual(networks["east-net"].entrances, [{ address: "192.0.2.1", port: 15443, clusters: ["Orch"] }]);
    assert.deepEqual(networks["west-net"].entrances, [{ address: "192.0.2.2", port: 15443, clusters: ["west"] }]);
  }, { options });
});

for (const isOn of [true, false]) {
  const what = isOn ? "of all clusters" : "of the proxy's cluster alone";
  test(`a headless service resolves to pods ${what} with ENABLE_MULTICLUSTER_HEADLESS=${isOn}, and the name of a pod to that pod`, async (clusters) => {
    if (binary === undefined) return;
    const { namespace } = clusters;
    await prepare(clusters, isOn ? 8 : 9);
    await serveClusters(clusters, async ({ ports, pipeline }) => {
      await withEnvoys(ports.grpc, namespace, async (_, west) => {
        await until("its clusters", async () => await dialled(west, namespace, "cart") !== "");
        const { translator } = pipeline;
        const proxy = [...translator.proxies()].find(({ proxy }) => proxy.properties.clusterId === "west")!;
        const table = decodeNameTable([...translator.nameTable(proxy)][0]!.value);
        const ips = (host: string) => table[`${host}.${namespace}.svc.cluster.local`]?.ips.toSorted();
        assert.deepEqual(ips("db"), isOn ? [`${OWN}.3`, `${WEST}.3`] : [`${WEST}.3`]);
        assert.deepEqual([ips("db-east.db"), ips("db-west.db")], [[`${OWN}.3`], [`${WEST}.3`]]);
      });
    }, { options: { systemNamespace: namespace }, settings: { ENABLE_MULTICLUSTER_HEADLESS: isOn } });
  });
}
