import assert from "node:assert/strict";
import { Fixture, texts } from "./fixture.ts";

const entry = (account: string, selects: boolean) => ({
  apiVersion: "networking.mesh.io/v1",
  kind: "ServiceEntry",
  metadata: { name: "pay", namespace: "shop" },
  spec: {
    hosts: ["pay.example.com"],
    resolution: "STATIC",
    ports: [{ number: 443, name: "tcp", protocol: "TCP" }],
    ...(selects
      ? { workloadSelector: { labels: { app: "pay" } } }
      : { endpoints: [{ address: "10.0.0.1", serviceAccount: account }] }),
  },
});
const workload = (account: string) => ({
  apiVersion: "networking.mesh.io/v1",
  kind: "WorkloadEntry",
  metadata: { name: "pay", namespace: "shop" },
  spec: { address: "10.0.0.1", labels: { app: "pay" }, serviceAccount: account },
});
const rule = {
  apiVersion: "networking.mesh.io/v1",
  kind: "DestinationRule",
  metadata: { name: "pay", namespace: "shop" },
  spec: { host: "pay.example.com", trafficPolicy: { tls: { mode: "SIMPLE" } } },
};

for (const selects of [false, true]) {
  Deno.test(`another service account of ${selects ? "a selected workload" : "a listed endpoint"} changes the cluster`, () => {
    const fixture = new Fixture();
    const put = (account: string) => {
      fixture.put(entry(account, selects), ...(selects ? [workload(account)] : []));
      fixture.pipeline.flush();
    };
    fixture.put(rule);
    put("cashier");
    const proxy = fixture.join({ namespace: "shop", address: "172.16.0.1" });
    const identities = () => {
      const text = texts(proxy)["cluster/outbound|443||pay.example.com"] ?? "";
      return [...text.matchAll(/spiffe:[^"]*/g)].map(([name]) => name);
    };
    assert.deepEqual(identities(), ["spiffe://cluster.local/ns/shop/sa/cashier"]);
    put("clerk");
    assert.deepEqual(identities(), ["spiffe://cluster.local/ns/shop/sa/clerk"]);
  });
}

Deno.test("another endpoint with the same service account leaves the cluster unchanged", () => {
  const fixture = new Fixture();
  fixture.put(rule, entry("cashier", true), workload("cashier"));
  fixture.pipeline.flush();
  const proxy = fixture.join({ namespace: "shop", address: "172.16.0.1" });
  const before = texts(proxy);
  const second = workload("cashier");
  fixture.put({
    ...second,
    metadata: { ...second.metadata, name: "second" },
    spec: { ...second.spec, address: "10.0.0.2" },
  });
  fixture.pipeline.flush();
  const after = texts(proxy);
  const changed = Object.keys(after).filter((name) => before[name] !== after[name]);
  assert.deepEqual(changed, ["assignment/outbound|443||pay.example.com"]);
});
