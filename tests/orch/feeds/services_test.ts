/** Annotations of services, and selection of workloads by services and entries. */
import assert from "node:assert/strict";
import type { DiscoveryServer } from "../../../lib/discovery/server.ts";
import type { Service } from "../../../lib/registry/types.ts";
import { meshDraft, namespaceDraft, serviceDraft, sliceDraft } from "../support/drafts.ts";
import { twoFeeds } from "../support/feeds.ts";
import { until } from "../../patience.ts";

const test = twoFeeds();

test("annotations of a service say who sees it, which identities it has and which endpoints are near, and are followed", async (feed) => {
  const { name } = feed;
  const other = `${name}-other`;
  for (const one of [name, other]) await feed.put(namespaceDraft(one));
  const annotated = (annotations: Record<string, string>) => serviceDraft(name, "cart", { annotations });
  await feed.put(annotated({
    "networking.istio.io/exportTo": `., ${other}`,
    "alpha.istio.io/kubernetes-serviceaccounts": "one, two",
    "alpha.istio.io/canonical-serviceaccounts": "spiffe://old.example/ns/x/sa/y",
    "networking.istio.io/traffic-distribution": "PreferSameZone",
  }));
  await feed.serve(async ({ pipeline }) => {
    const host = `cart.${name}.svc.cluster.local`;
    const seenFrom = (namespace: string) => pipeline.translator.mesh.scope(namespace, {}).service(host) !== undefined;
    const service = () => pipeline.aggregate.service(`${name}/${host}`) as Service;
    assert.deepEqual([name, other, "third"].map(seenFrom), [true, true, false]);
    assert.deepEqual(service().subjectAltNames, [
      "spiffe://old.example/ns/x/sa/y",
      `spiffe://cluster.local/ns/${name}/sa/one`,
      `spiffe://cluster.local/ns/${name}/sa/two`,
    ]);
    assert.equal(service().trafficDistribution, "preferSameZone");
    await feed.put(annotated({
      "networking.mesh.io/exportTo": "~",
      "alpha.mesh.io/kubernetes-serviceaccounts": "three",
      "networking.mesh.io/traffic-distribution": "PreferSameNode",
    }));
    await until("the other annotations", () => service().trafficDistribution === "preferSameNode");
    assert.deepEqual(service().subjectAltNames.filter((one) => one.includes("three")).length, 1);
    await until("a push", () => !seenFrom(other));
    assert.deepEqual([name, other, "third"].map(seenFrom), [false, false, false]);
  }, { PILOT_DEBOUNCE_AFTER: 10 });
});

/** Addresses of a host's endpoints. */
const addressesOf = ({ pipeline }: DiscoveryServer, namespace: string, host: string) =>
  pipeline.endpoints.endpoints(`${namespace}/${host}`).map(({ address }) => address).sort().join();

for (const selects of [true, false]) {
  const how = selects ? "select" : "do not select";
  test(`services ${how} workload entries, and service entries ${how} pods, by the two settings, as the workloads are added and removed`, async (feed) => {
    const { name } = feed;
    await feed.put(namespaceDraft(name));
    await feed.put(serviceDraft(name, "cart", { spec: { selector: { app: "cart" } } }));
    await feed.put(meshDraft("ServiceEntry", name, "outside", {
      hosts: ["outside.example"],
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
      resolution: "STATIC",
      workloadSelector: { labels: { app: "cart" } },
    }));
    await feed.put({ apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace: name, name: "default" } });
    const machine = (address: string) => meshDraft("WorkloadEntry", name, "vm", { address, labels: { app: "cart" } });
    const pod = (address: string) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { namespace: name, name: "cart-1", labels: { app: "cart" } },
      spec: { containers: [{ name: "app", image: "none" }] },
      status: {
        phase: "Running",
        podIP: address,
        podIPs: [{ ip: address }],
        conditions: [{ type: "Ready", status: "True" }],
      },
    });
    await feed.serve(async (server) => {
      const state = () => [
        addressesOf(server, name, `cart.${name}.svc.cluster.local`),
        addressesOf(server, name, "outside.example"),
      ];
      const become = (what: string, expected: readonly string[]) =>
        until(what, () => JSON.stringify(state()) === JSON.stringify(expected));
      await feed.put(machine("10.9.3.1"));
      await become("the machine", selects ? ["10.9.3.1", "10.9.3.1"] : ["", "10.9.3.1"]);
      await feed.put(pod("10.9.3.2"));
      await feed.put(sliceDraft(name, "cart", ["10.9.3.2"]));
      await become("the pod", selects ? ["10.9.3.1,10.9.3.2", "10.9.3.1,10.9.3.2"] : ["10.9.3.2", "10.9.3.1"]);
      await feed.put(machine("10.9.3.3"));
      await become(
        "its other address",
        selects ? ["10.9.3.2,10.9.3.3", "10.9.3.2,10.9.3.3"] : ["10.9.3.2", "10.9.3.3"],
      );
      await feed.drop(machine(""));
      await feed.drop(pod(""));
      await become("their end", ["10.9.3.2", ""]);
    }, { PILOT_ENABLE_ORCH_SELECT_WORKLOAD_ENTRIES: selects, PILOT_ENABLE_SERVICEENTRY_SELECT_PODS: selects });
  });
}

test("a service has endpoints of kind Endpoints where it has no slice", async (feed) => {
  const { name } = feed;
  await feed.put(namespaceDraft(name));
  await feed.put(serviceDraft(name, "cart"));
  await feed.put({
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { namespace: name, name: "cart" },
    subsets: [{ addresses: [{ ip: "10.9.4.1" }], ports: [{ name: "http", port: 8080 }] }],
  });
  await feed.serve(async (server) => {
    const addresses = () => addressesOf(server, name, `cart.${name}.svc.cluster.local`);
    // In a cluster a controller mirrors endpoints into slices. This API server runs without the controller.
    assert.equal(addresses(), feed.isFolder ? "10.9.4.1" : "");
    await feed.put(sliceDraft(name, "cart", ["10.9.4.2"]));
    await until("the slice", () => addresses() === "10.9.4.2");
  });
});
