/** Workload entries of a remote cluster and the services that select them, by two real API servers. */
import assert from "node:assert/strict";
import { meshDraft, serviceDraft } from "../support/drafts.ts";
import { defineKinds } from "../support/feeds.ts";
import { clusterSecret, endpointsOf, putService, serveClusters, twoClusterTests } from "../support/two_clusters.ts";
import { until } from "../../patience.ts";

const test = twoClusterTests();

for (const isOn of [true, false]) {
  const who = isOn ? "services of that cluster and service entries select" : "nobody selects";
  test(`${who} the workload entries of a remote cluster with PILOT_ENABLE_CROSS_CLUSTER_WORKLOAD_ENTRY=${isOn}, and none of another cluster`, async (clusters) => {
    const { own, remote, namespace } = clusters;
    await defineKinds(remote);
    const labels = { app: "cart" };
    const select = { selector: labels };
    await putService(own, namespace, "home", ["10.1.0.1"], select);
    await putService(remote, namespace, "cart", ["10.2.0.1"], select);
    await own.objects.apply(serviceDraft(namespace, "cart", { spec: select }));
    await own.objects.apply(meshDraft("ServiceEntry", namespace, "outside", {
      hosts: ["outside.example"],
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
      resolution: "STATIC",
      workloadSelector: { labels },
    }));
    const machine = (address: string) => meshDraft("WorkloadEntry", namespace, "vm", { address, labels });
    await remote.objects.apply(machine("10.2.5.5"));
    const access = await Deno.readTextFile(remote.kubeconfig);
    await own.objects.apply(clusterSecret(namespace, "clusters", { west: access }));
    await serveClusters(clusters, async (server) => {
      const outside = () => server.pipeline.endpoints.endpoints(`${namespace}/outside.example`);
      const state = () => [endpointsOf(server, namespace, "cart"), outside().map(({ address }) => address).join()];
      const expected = (address: string) => isOn ? [`10.2.0.1,${address}`, address] : ["10.2.0.1", ""];
      assert.deepEqual(state(), expected("10.2.5.5"));
      assert.deepEqual(outside().map(({ clusterId }) => clusterId), isOn ? ["west"] : []);
      assert.equal(endpointsOf(server, namespace, "home"), "10.1.0.1", "a service of another cluster");
      await remote.objects.apply(machine("10.2.5.6"));
      await putService(remote, namespace, "after", ["10.2.0.2"]);
      await until("what was written last", () => endpointsOf(server, namespace, "after") === "10.2.0.2");
      const become = (what: string, all: readonly string[]) =>
        until(what, () => JSON.stringify(state()) === JSON.stringify(all));
      await become("the other address", expected("10.2.5.6"));
      await own.objects.apply(clusterSecret(namespace, "clusters", { west: `${access} ` }));
      await remote.objects.delete(machine(""));
      await become("the end of the machine", ["10.2.0.1", ""]);
      await remote.objects.apply(machine("10.2.5.7"));
      await become("its return", expected("10.2.5.7"));
      await own.objects.delete(clusterSecret(namespace, "clusters", {}));
      await become("the end of the cluster", ["", ""]);
    }, { settings: { PILOT_ENABLE_CROSS_CLUSTER_WORKLOAD_ENTRY: isOn } });
  });
}
