/** Services of several clusters, by two real API servers: merged, followed, and taken out of the mesh again. */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { page } from "../../discovery/running.ts";
import {
  clusterSecret,
  endpointsOf,
  putService,
  serveClusters,
  twoClusterTests,
  untilEndpoints,
} from "../support/two_clusters.ts";
import { until } from "../../patience.ts";

const test = twoClusterTests();

interface ShownCluster {
  readonly id: string;
  readonly secretName?: string;
  readonly syncStatus: string;
  readonly problem?: string;
}

/** `/debug/clusterz`. */
async function clusterz(port: number): Promise<readonly ShownCluster[]> {
  return JSON.parse((await page(port, "/debug/clusterz")).body);
}

test("a secret adds a cluster's endpoints and addresses to services, its end takes them away; metrics and the page say so", async (clusters) => {
  const { own, remote, namespace } = clusters;
  await putService(own, namespace, "cart", ["10.1.0.1"], { clusterIP: "10.96.7.101" });
  await putService(remote, namespace, "cart", ["10.2.0.1"], { clusterIP: "10.96.7.102" });
  await putService(remote, namespace, "far", ["10.2.0.9"]);
  const secret = clusterSecret(namespace, "clusters", { west: await Deno.readTextFile(remote.kubeconfig) });
  await serveClusters(clusters, async (server) => {
    const { ports, pipeline } = server;
    assert.equal(endpointsOf(server, namespace, "cart"), "10.1.0.1");
    await own.objects.apply(secret);
    await untilEndpoints(server, namespace, "cart", ["10.1.0.1", "10.2.0.1"]);
    await untilEndpoints(server, namespace, "far", ["10.2.0.9"]);
    const cart = pipeline.aggregate.service(`${namespace}/cart.${namespace}.svc.cluster.local`);
    assert.deepEqual(cart?.clusterAddresses, { Orch: ["10.96.7.101"], west: ["10.96.7.102"] });
    const both = [
      { id: "Orch", syncStatus: "synced" },
      { id: "west", secretName: `${namespace}/clusters`, syncStatus: "synced" },
    ];
    // The last kinds of the other cluster may come after its services.
    await until("both are synced", async () => isDeepStrictEqual(await clusterz(ports.http), both));
    const metrics = async () => (await page(ports.monitoring!, "/metrics")).body;
    assert.match(await metrics(), /^meshd_managed_clusters\{cluster_type="remote"\} 1$/m);
    assert.match(await metrics(), /^meshd_remote_cluster_sync_status\{cluster="west",status="synced"\} 1$/m);

    await putService(remote, namespace, "cart", ["10.2.0.2"]);
    await untilEndpoints(server, namespace, "cart", ["10.1.0.1", "10.2.0.2"]);

    await own.objects.delete(secret);
    await untilEndpoints(server, namespace, "cart", ["10.1.0.1"]);
    assert.equal(pipeline.aggregate.service(`${namespace}/far.${namespace}.svc.cluster.local`), undefined);
    await until(
      "no remote cluster is counted",
      async () => /^meshd_managed_clusters\{cluster_type="remote"\} 0$/m.test(await metrics()),
    );
    assert.doesNotMatch(await metrics(), /cluster="west",status/);
  });
});

test("a cluster that is there at the start is read before the server is ready; Istio's label counts too", async (clusters) => {
  const { own, remote, namespace } = clusters;
  await putService(remote, namespace, "cart", ["10.2.0.1"]);
  const entries = { east: await Deno.readTextFile(remote.kubeconfig) };
  await own.objects.apply(clusterSecret(namespace, "east", entries, "istio/multiCluster"));
  await serveClusters(clusters, (server) => {
    assert.equal(endpointsOf(server, namespace, "cart"), "10.2.0.1");
    return Promise.resolve();
  });
});

test("a broken access harms neither its cluster nor another cluster, and the next access repairs it", async (clusters) => {
  const { own, remote, namespace } = clusters;
  await putService(remote, namespace, "cart", ["10.2.0.1"]);
  const good = await Deno.readTextFile(remote.kubeconfig);
  const { server: address } = JSON.parse(good).clusters[0].cluster;
  const away = good.replace(address, "https://127.255.3.9:6443");
  const apply = (access: string) => own.objects.apply(clusterSecret(namespace, "clusters", { west: access }));
  const dark = clusterSecret(namespace, "dark", { dark: away, odd: "clusters: 7", Orch: good, west: away });
  await apply(good);
  await own.objects.apply(dark);
  await serveClusters(clusters, async (server) => {
    const state = async (id: string) => (await clusterz(server.ports.http)).filter((one) => one.id === id);
    assert.equal(endpointsOf(server, namespace, "cart"), "10.2.0.1", "a cluster that is away keeps no other waiting");
    const [lost] = await state("dark");
    assert.equal(lost?.syncStatus, "timeout");
    assert.match(lost?.problem ?? "", /127\.255\.3\.9:6443/);
    const [odd] = await state("odd");
    assert.equal(odd?.syncStatus, "closed");
    assert.match(odd?.problem ?? "", /secret .*\/dark, key odd: clusters: /);
    assert.equal((await state("Orch"))[1]?.problem, "the cluster is the server's own");
    assert.match((await state("west"))[1]?.problem ?? "", /secret .*\/clusters, which is older, names the cluster too/);
    const { body } = await page(server.ports.monitoring!, "/metrics");
    assert.match(body, /^remote_cluster_sync_timeouts_total\{cluster="dark"\} 1$/m);
    assert.doesNotMatch(body, /^remote_cluster_sync_timeouts_total\{cluster="west"/m);

    await apply(away);
    await until("the trouble with the new access", async () => (await state("west"))[0]?.problem !== undefined);
    assert.equal((await state("west"))[0]?.syncStatus, "synced");
    await putService(remote, namespace, "cart", ["10.2.0.2"]);
    await untilEndpoints(server, namespace, "cart", ["10.2.0.2"]);
    await apply("nonsense");
    await until("the fault", async () => /current-context|clusters/.test((await state("west"))[0]?.problem ?? ""));
    await apply(`${good} `);
    await until("no problem", async () => (await state("west"))[0]?.problem === undefined);
    assert.equal(endpointsOf(server, namespace, "cart"), "10.2.0.2");

    await own.objects.apply(clusterSecret(namespace, "dark", { dark: good }));
    await until("the healed cluster", async () => (await state("dark"))[0]?.syncStatus === "synced");
    // Two secrets name one cluster: when the first secret goes, the second counts.
    await own.objects.apply(clusterSecret(namespace, "later", { west: good }));
    await own.objects.delete(clusterSecret(namespace, "clusters", {}));
    await until("the next secret", async () => (await state("west"))[0]?.secretName === `${namespace}/later`);
  }, { settings: { PILOT_REMOTE_CLUSTER_TIMEOUT: 1000 } });
});

test("an object removed during a change of access is gone once the new access has been read, and nothing else changes", async (clusters) => {
  const { own, remote, namespace } = clusters;
  for (const [name, address] of [["stays", "10.2.1.1"], ["goes", "10.2.1.2"]] as const) {
    await putService(remote, namespace, name, [address]);
  }
  const good = await Deno.readTextFile(remote.kubeconfig);
  const apply = (access: string) => own.objects.apply(clusterSecret(namespace, "clusters", { west: access }));
  await apply(good);
  await serveClusters(clusters, async (server) => {
    const { pipeline } = server;
    const stays = pipeline.endpoints.endpoints(`${namespace}/stays.${namespace}.svc.cluster.local`);
    assert.equal(stays.length, 1);
    const state = async () => (await clusterz(server.ports.http)).find(({ id }) => id === "west");
    remote.pause();
    await apply(`${good} `);
    remote.resume();
    const host = (name: string) => ({ apiVersion: "v1", kind: "Service", metadata: { namespace, name } });
    await remote.objects.delete(host("goes"));
    await until("the end of a service", () => endpointsOf(server, namespace, "goes") === "");
    await until("the new access", async () => (await state())?.problem === undefined);
    assert.equal(pipeline.endpoints.endpoints(`${namespace}/stays.${namespace}.svc.cluster.local`), stays);
  });
});
