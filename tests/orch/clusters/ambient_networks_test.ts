/** Workloads of a remote cluster in another network, by two real API servers: what a node tunnel gets, and the metrics. */
import assert from "node:assert/strict";
import type { DiscoveryServer } from "../../../lib/discovery/server.ts";
import { TunnelClient } from "../../discovery/ambient/tunnel_client.ts";
import { page } from "../../discovery/running.ts";
import { until } from "../../patience.ts";
import { namespaceDraft } from "../support/drafts.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { defineGateways } from "../support/open_definition.ts";
import {
  clusterSecret,
  putService,
  serveClusters,
  type TwoClusters,
  twoClusterTests,
} from "../support/two_clusters.ts";

const test = twoClusterTests();

const NETWORK = "topology.mesh.io/network";
const SYSTEM = "mesh-system";

/** A Gateway of the system's namespace that leads into network `west`. */
async function putGateway({ objects }: ApiServer, of: string, addresses: readonly string[]): Promise<void> {
  const gateway = {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "Gateway",
    metadata: { namespace: SYSTEM, name: "west", labels: { [NETWORK]: "west" } },
    spec: {
      gatewayClassName: of,
      addresses: of === "mesh-remote" ? addresses.map((value) => ({ type: "IPAddress", value })) : [],
      listeners: [{ name: "mesh", port: 15008, protocol: "HBONE" }],
    },
  };
  await objects.apply(gateway);
  const status = { addresses: addresses.map((value) => ({ type: "IPAddress", value })) };
  if (of !== "mesh-remote") await objects.patch(gateway, { status }, "status");
}

async function networks({ own, remote }: TwoClusters): Promise<void> {
  await own.objects.apply(namespaceDraft(SYSTEM, { [NETWORK]: "east" }));
  await remote.objects.apply(namespaceDraft(SYSTEM, { [NETWORK]: "west" }));
}

async function secretOf({ remote, namespace }: TwoClusters) {
  return clusterSecret(namespace, "clusters", { west: await Deno.readTextFile(remote.kubeconfig) });
}

const SETTINGS = { PILOT_ENABLE_AMBIENT: true, AMBIENT_ENABLE_MULTI_NETWORK: true, XDS_AUTH: false };

/** Runs a server with all services of a namespace global, and a tunnel. */
async function withTunnel(
  clusters: TwoClusters,
  run: (tunnel: TunnelClient, server: DiscoveryServer) => Promise<void>,
): Promise<void> {
  const { namespace } = clusters;
  const meshConfig = await Deno.makeTempFile();
  const selector = `matchLabels: { kubernetes.io/metadata.name: ${namespace} }`;
  await Deno.writeTextFile(
    meshConfig,
    `serviceScopeConfigs: [{ namespaceSelector: { ${selector} }, scope: GLOBAL }]\n`,
  );
  try {
    await serveClusters(clusters, async (server) => {
      using tunnel = new TunnelClient(server.ports.grpc!);
      await run(tunnel, server);
    }, { options: { meshConfig }, settings: SETTINGS });
  } finally {
    await Deno.remove(meshConfig);
  }
}

test("a remote cluster's workloads are one workload of their service behind the gateway, while a secret names the cluster", async (clusters) => {
  const { own, remote, namespace } = clusters;
  await Promise.all([own, remote].map(defineGateways));
  await networks(clusters);
  await putService(own, namespace, "cart", [], { clusterIP: "10.96.7.111" });
  await putService(remote, namespace, "cart", ["10.2.0.1", "10.2.0.2"], { clusterIP: "10.96.7.112" });
  await putService(remote, namespace, "far", ["10.2.0.9"], { clusterIP: "10.96.7.113" });
  await putGateway(own, "mesh-remote", ["192.0.2.9"]);
  const secret = await secretOf(clusters);
  const host = (name: string) => `${namespace}/${name}.${namespace}.svc.cluster.local`;
  const split = (name: string) => `west/SplitHorizonWorkload/${SYSTEM}/west/192.0.2.9/${host(name)}`;
  await withTunnel(clusters, async (tunnel, { ports }) => {
    await tunnel.until(() => tunnel.addresses.has(host("cart")), "the own service");
    assert.equal(tunnel.addresses.has(split("cart")), false);
    await own.objects.apply(secret);
    await tunnel.until(() => tunnel.addresses.has(split("far")), "the remote cluster");
    const capacity = () => tunnel.addresses.get(split("cart"))?.message.workload?.capacity?.value;
    assert.equal(capacity(), 2);
    const { service } = tunnel.addresses.get(host("cart"))!.message;
    assert.deepEqual(service?.addresses?.map(({ network, address }) => `${network} ${address!.join(".")}`), [
      "east 10.96.7.111",
      "west 10.96.7.112",
    ]);
    const metrics = async () => (await page(ports.monitoring!, "/metrics")).body;
    assert.match(await metrics(), /^ambient_meshd_managed_clusters\{ambient_cluster_type="local"\} 1$/m);
    assert.match(await metrics(), /^ambient_meshd_managed_clusters\{ambient_cluster_type="remote"\} 1$/m);

    tunnel.responses.length = 0;
    await putService(remote, namespace, "cart", ["10.2.0.1", "10.2.0.2", "10.2.0.3"]);
    await tunnel.until(() => capacity() === 3, "the third workload");
    const names = tunnel.responses.filter(({ type }) => type === "addresses").flatMap(({ names }) => names);
    assert.deepEqual([...new Set(names)], [split("cart")], "a change in a remote cluster touches its service alone");

    await own.objects.delete(secret);
    await tunnel.until(() => !tunnel.addresses.has(host("far")), "the end of the remote cluster");
    assert.equal(tunnel.addresses.has(split("cart")), false);
    await until(
      "no remote cluster is counted",
      async () => /^ambient_meshd_managed_clusters\{ambient_cluster_type="remote"\} 0$/m.test(await metrics()),
    );
  });
});

test("the gateway between networks of the remote cluster leads to it, with the addresses of its status", async (clusters) => {
  const { own, remote, namespace } = clusters;
  await Promise.all([own, remote].map(defineGateways));
  await networks(clusters);
  await own.objects.delete({
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "Gateway",
    metadata: { namespace: SYSTEM, name: "west" },
  });
  await putService(remote, namespace, "cart", ["10.2.0.1"], { clusterIP: "10.96.7.114" });
  await putGateway(remote, "mesh-east-west", ["192.0.2.11"]);
  await own.objects.apply(await secretOf(clusters));
  const host = `${namespace}/cart.${namespace}.svc.cluster.local`;
  const split = (address: string) => `west/SplitHorizonWorkload/${SYSTEM}/west/${address}/${host}`;
  await withTunnel(clusters, async (tunnel) => {
    await tunnel.until(() => tunnel.addresses.has(split("192.0.2.11")), "the way by the gateway");
    const gateway = tunnel.addresses.get("NetworkGateway/west/192.0.2.11/15008")?.message.workload;
    assert.equal(gateway?.service_account, "west");
    await putGateway(remote, "mesh-east-west", ["192.0.2.12"]);
    await tunnel.until(() => tunnel.addresses.has(split("192.0.2.12")), "the other address of the status");
    assert.equal(tunnel.addresses.has(split("192.0.2.11")), false);
  });
});

test("a remote cluster that is not read in time is counted for ambient mode, too", async (clusters) => {
  const { own, remote, namespace } = clusters;
  const good = await Deno.readTextFile(remote.kubeconfig);
  const away = good.replace(JSON.parse(good).clusters[0].cluster.server, "https://127.255.3.9:6443");
  await own.objects.apply(clusterSecret(namespace, "dark", { dark: away }));
  const counted = /^ambient_remote_cluster_sync_timeouts_total\{cluster="dark"\} 1$/m;
  for (const isOn of [true, false]) {
    await serveClusters(clusters, async ({ ports }) => {
      const { body } = await page(ports.monitoring!, "/metrics");
      assert.match(body, /^remote_cluster_sync_timeouts_total\{cluster="dark"\} 1$/m);
      assert.equal(counted.test(body), isOn);
      assert.equal(/^ambient_meshd_managed_clusters\{/m.test(body), isOn);
    }, { settings: { ...SETTINGS, AMBIENT_ENABLE_MULTI_NETWORK: isOn, PILOT_REMOTE_CLUSTER_TIMEOUT: 1000 } });
  }
});
