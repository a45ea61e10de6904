/** Services shared between clusters, by two real API servers and a real Envoy in each cluster. */
import assert from "node:assert/strict";
import { decodeNameTable } from "../../../lib/dns/table/name_table_wire.ts";
import type { DiscoveryServer } from "../../../lib/discovery/server.ts";
import { defaultSettings } from "../../../lib/kernel/settings/read.ts";
import { sharingWithoutEffect } from "../../../lib/discovery/settings/settings.ts";
import { page } from "../../discovery/running.ts";
import { envoyPath } from "../../e2e/support/mesh.ts";
import { dialled, withEnvoys } from "../support/cluster_envoys.ts";
import { exportDraft, importDraft, sharingDefinitions } from "../support/sharing.ts";
import {
  clusterSecret,
  putService,
  serveClusters,
  type TwoClusters,
  twoClusterTests,
} from "../support/two_clusters.ts";
import { until } from "../../patience.ts";

const test = twoClusterTests();
const ignored = envoyPath() === undefined;
const ON = { ENABLE_MCS_SERVICE_DISCOVERY: true, ENABLE_MCS_HOST: true };

/** The same service in both clusters, whose APIs know exports and imports. */
async function prepare({ own, remote, namespace }: TwoClusters): Promise<void> {
  for (const server of [own, remote]) {
    for (const definition of sharingDefinitions()) await server.objects.define(definition);
  }
  await putService(own, namespace, "cart", ["10.1.0.1"]);
  await putService(remote, namespace, "cart", ["10.2.0.1"]);
  const access = await Deno.readTextFile(remote.kubeconfig);
  await own.objects.apply(clusterSecret(namespace, "clusters", { west: access }));
}

/** Addresses with which a proxy's agent answers a name. */
function answers({ pipeline }: DiscoveryServer, clusterId: string, host: string): readonly string[] | undefined {
  const { translator } = pipeline;
  const proxy = [...translator.proxies()].find(({ proxy }) => proxy.properties.clusterId === clusterId)!;
  return decodeNameTable([...translator.nameTable(proxy)][0]!.value)[host]?.ips;
}

test("proxies dial what their own cluster has, and of others what these export; an import gives the shared name its address in each cluster", async (clusters) => {
  if (ignored) return;
  const { own, remote, namespace } = clusters;
  await prepare(clusters);
  await serveClusters(clusters, async (server) => {
    await withEnvoys(server.ports.grpc, namespace, async (east, west) => {
      const become = (service: string, expected: readonly string[], domain?: string) =>
        until(`endpoints ${expected.join(" and ")} of ${service}`, async () => {
          const found = await Promise.all([east, west].map((one) => dialled(one, namespace, service, domain)));
          return JSON.stringify(found) === JSON.stringify(expected);
        });
      await become("cart", ["10.1.0.1", "10.2.0.1"]);
      await remote.objects.apply(exportDraft(namespace, "cart"));
      await become("cart", ["10.1.0.1,10.2.0.1", "10.2.0.1"]);
      await own.objects.apply(importDraft(namespace, "cart", ["241.0.0.1"]));
      await remote.objects.apply(importDraft(namespace, "cart", ["242.0.0.1"]));
      await become("cart", ["10.1.0.1,10.2.0.1", "10.2.0.1"], "clusterset.local");
      const shared = `cart.${namespace}.svc.clusterset.local`;
      await until("the names", () => answers(server, "west", shared)?.join() === "242.0.0.1");
      assert.deepEqual(answers(server, "Orch", shared), ["241.0.0.1"]);
      const dump = async () => await (await fetch(`http://127.0.0.1:${east.adminPort}/config_dump`)).text();
      await until(
        "the listener",
        async () => (await dump()).includes('"241.0.0.1_80"') || (await dump()).includes(shared),
      );

      const { body } = await page(server.ports.http, "/debug/mcsz");
      const local = `cart.${namespace}.svc.cluster.local`;
      const everywhere = { [local]: "AlwaysDiscoverable", [shared]: "AlwaysDiscoverable" };
      assert.deepEqual(JSON.parse(body), [
        {
          ...{ Cluster: "Orch", Name: "cart", Namespace: namespace, Exported: false, Imported: true },
          ClusterSetVIP: "241.0.0.1",
          Discoverability: { [local]: "DiscoverableFromSameCluster", [shared]: "DiscoverableFromSameCluster" },
        },
        {
          ...{ Cluster: "west", Name: "cart", Namespace: namespace, Exported: true, Imported: true },
          ...{ ClusterSetVIP: "242.0.0.1", Discoverability: everywhere },
        },
      ]);
      await remote.objects.delete(exportDraft(namespace, "cart"));
      await become("cart", ["10.1.0.1", "10.2.0.1"]);
    });
  }, { settings: ON });
});

test("without the definitions nothing waits and nothing is exported; they may come later, in the group and version of the settings, and go", async (clusters) => {
  const { own, remote, namespace } = clusters;
  const definitions = sharingDefinitions("sharing.example", "v1beta1");
  await putService(own, namespace, "cart", ["10.1.0.1"]);
  await putService(remote, namespace, "cart", ["10.2.0.1"]);
  const access = await Deno.readTextFile(remote.kubeconfig);
  await own.objects.apply(clusterSecret(namespace, "clusters", { west: access }));
  await serveClusters(clusters, async ({ pipeline, ports }) => {
    const open = () =>
      pipeline.endpoints.endpoints(`${namespace}/cart.${namespace}.svc.cluster.local`)
        .filter(({ ownClusterOnly }) => !ownClusterOnly).map(({ address }) => address).join();
    assert.equal(open(), "");
    for (const definition of definitions) await remote.objects.define(definition);
    await remote.objects.apply({ ...exportDraft(namespace, "cart"), apiVersion: "sharing.example/v1beta1" });
    await until("the export", () => open() === "10.2.0.1");
    assert.match((await page(ports.http, "/debug/mcsz")).body, /"Cluster":\s*"west"/);
    for (const definition of definitions) await remote.objects.delete(definition);
    await until("its end", () => open() === "");
  }, { settings: { ...ON, MCS_API_GROUP: "sharing.example", MCS_API_VERSION: "v1beta1" } });
});

Deno.test("a setting that has no effect without another setting is reported, with the other setting", () => {
  const given = { ...defaultSettings("pilot-discovery"), ENABLE_MCS_HOST: true, ENABLE_MCS_CLUSTER_LOCAL: true };
  assert.deepEqual(sharingWithoutEffect(given), [
    "ENABLE_MCS_HOST: got true, without effect while ENABLE_MCS_SERVICE_DISCOVERY is off",
    "ENABLE_MCS_CLUSTER_LOCAL: got true, without effect while ENABLE_MCS_SERVICE_DISCOVERY is off",
  ]);
  assert.deepEqual(sharingWithoutEffect({ ...given, ENABLE_MCS_SERVICE_DISCOVERY: true }), []);
});

test("ENABLE_MCS_CLUSTER_LOCAL: the name of the cluster stays at home although the service is exported", async (clusters) => {
  const { own, remote, namespace } = clusters;
  await prepare(clusters);
  await remote.objects.apply(exportDraft(namespace, "cart"));
  await own.objects.apply(importDraft(namespace, "cart", ["241.0.0.1"]));
  await serveClusters(clusters, async ({ pipeline }) => {
    const open = (domain: string) =>
      pipeline.endpoints.endpoints(`${namespace}/cart.${namespace}.svc.${domain}`)
        .filter(({ ownClusterOnly }) => !ownClusterOnly).map(({ address }) => address).join();
    await until("the export", () => open("clusterset.local") === "10.2.0.1");
    assert.equal(open("cluster.local"), "");
  }, { settings: { ...ON, ENABLE_MCS_CLUSTER_LOCAL: true } });
});

test("ENABLE_MCS_AUTO_EXPORT: each service of the server's cluster is exported, except services that the mesh keeps in their cluster", async (clusters) => {
  const { own, remote, namespace } = clusters;
  await prepare(clusters);
  await putService(own, namespace, "local", ["10.1.0.2"]);
  const hosts = [`local.${namespace}.svc.cluster.local`];
  const mesh = JSON.stringify({ serviceSettings: [{ settings: { clusterLocal: true }, hosts }] });
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: "mesh" }, data: { mesh } };
  await own.objects.apply(map);
  await serveClusters(clusters, async () => {
    const isThere = async (server: TwoClusters["own"], name: string) =>
      await server.objects.get(exportDraft(namespace, name)) !== undefined;
    await until("the export", () => isThere(own, "cart"));
    await putService(own, namespace, "later", ["10.1.0.3"]);
    await until("the export of a later service", () => isThere(own, "later"));
    assert.deepEqual([await isThere(own, "local"), await isThere(remote, "cart")], [false, false]);
    await own.objects.apply({ ...map, data: { mesh: "{}" } });
    await until("the export of a service that may leave now", () => isThere(own, "local"));
  }, { settings: { ENABLE_MCS_AUTO_EXPORT: true }, options: { systemNamespace: namespace } });
});
