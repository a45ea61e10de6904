/** Name tables for agents: one table for all proxies with the same view, updated after changes. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { decodeNameTable } from "../../lib/dns/table/name_table_wire.ts";
import { ProxyStateView } from "../../lib/discovery/proxies/proxy_state_view.ts";
import { MockRegistry } from "../../lib/registry/mock.ts";
import type { ProxyState } from "../../lib/translate/machine/per_proxy/proxy_state.ts";
import { NAME_TABLE_TYPE_URL } from "../../lib/translate/name_table/encode.ts";
import type { ConnectControl } from "../../lib/xds/protocol/source.ts";
import { Fixture, type TestNode } from "./fixture.ts";
import { name, namespace, type Tree, tree } from "./random_trees.ts";
import { runs } from "../properties.ts";

const RUNS = runs(100);

const CAPTURES = { DNS_CAPTURE: { stringValue: "true" }, DNS_AUTO_ALLOCATE: { stringValue: "true" } };

function tableOf({ pipeline: { translator } }: Fixture, state: ProxyState) {
  const [resource, ...others] = translator.nameTable(state);
  assert.deepEqual(others, []);
  return decodeNameTable(resource!.value);
}

function entry(host: string, address: string, spec: object = {}, endpoint = "10.9.0.1"): Tree {
  return {
    apiVersion: "networking.mesh.io/v1",
    kind: "ServiceEntry",
    metadata: { name: host.replaceAll(/[.*]/g, "x"), namespace: "a" },
    spec: {
      hosts: [host],
      ...(address === "" ? {} : { addresses: [address] }),
      resolution: "STATIC",
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
      endpoints: [{ address: endpoint }],
      ...spec,
    },
  } as unknown as Tree;
}

Deno.test("400 proxies of two views share two tables, each entry is built once, and an endpoint changes no table", () => {
  const fixture = new Fixture();
  const all = Array.from({ length: 1000 }, (_, i) => entry(`s${i}.example.com`, `10.${i >> 8}.${i & 255}.1`));
  fixture.put(...all, entry("hidden.example.com", "10.200.0.1", { exportTo: ["."] }));
  fixture.pipeline.flush();
  const states = Array.from(
    { length: 400 },
    (_, i) => fixture.join({ namespace: i % 2 ? "a" : "b", address: `172.16.${i >> 8}.${i & 255}` }),
  );
  const { translator } = fixture.pipeline;
  const sets = () => new Set(states.map((state) => translator.nameTable(state)));
  const before = sets();
  assert.equal(before.size, 2);
  assert.equal(translator.nameTables, 2);
  assert.equal(translator.caches.of.names.counts.built, 1001);
  fixture.put(entry("s7.example.com", "10.0.7.1", {}, "10.9.0.2"));
  fixture.pipeline.flush();
  assert.deepEqual(sets(), before);
  fixture.put(entry("s7.example.com", "10.0.7.2"));
  fixture.pipeline.flush();
  assert.equal(sets().size, 2);
  assert(sets().isDisjointFrom(before));
  assert(translator.caches.of.names.counts.built <= 1003, `${translator.caches.of.names.counts.built}`);
  for (const state of states) assert.deepEqual(tableOf(fixture, state)["s7.example.com"]?.ips, ["10.0.7.2"]);
});

Deno.test("a sidecar that asks for what it calls resolves all names, shares the table of other sidecars, and sees its changes", () => {
  const fixture = new Fixture();
  fixture.put(
    entry("s1.example.com", "10.0.1.1"),
    entry("s2.example.com", "10.0.2.1"),
    entry("*.wild.example.com", "10.0.3.1"),
    entry("fresh.example.com", ""),
  );
  fixture.pipeline.flush();
  const asks = { ON_DEMAND: { stringValue: "true" }, PROXY_CONFIG: { stringValue: "{}" } };
  const join = (address: string, metadata: TestNode["metadata"] = {}) =>
    fixture.join({ namespace: "a", address, metadata: { ...CAPTURES, ...metadata } });
  const [eager, asking] = [join("172.16.0.1"), join("172.16.0.2", asks)];
  assert.ok(asking.proxy.properties.onDemand && !eager.proxy.properties.onDemand);
  assert.deepEqual(Object.keys(tableOf(fixture, asking)).sort(), [
    "*.wild.example.com",
    "fresh.example.com",
    "s1.example.com",
    "s2.example.com",
  ]);
  assert.deepEqual(tableOf(fixture, asking), tableOf(fixture, eager));
  const views = [asking, eager].map((state) =>
    new ProxyStateView(state, fixture.pipeline, { answered() {} } as unknown as ConnectControl, new Map(), undefined)
  );
  const digests = () => views.map((view) => view.resourceSets(NAME_TABLE_TYPE_URL)?.map(({ digest }) => digest).join());
  const [ofAsking, ofEager] = digests();
  assert.deepEqual([ofAsking, ofAsking === ""], [ofEager, false]);
  fixture.put(entry("s1.example.com", "10.0.1.2"), entry("s4.example.com", "10.0.4.1"));
  fixture.pipeline.flush();
  assert.deepEqual(tableOf(fixture, asking)["s1.example.com"]?.ips, ["10.0.1.2"]);
  assert.deepEqual(tableOf(fixture, asking), tableOf(fixture, eager));
  const [later, ofEagerLater] = digests();
  assert.deepEqual([later, later === ofAsking], [ofEagerLater, false]);
});

Deno.test("nothing is built for proxies whose agents ask for no names, and nothing is kept for departed proxies", () => {
  const fixture = new Fixture();
  fixture.put(entry("x.example.com", "10.0.0.1"));
  fixture.pipeline.flush();
  const { translator } = fixture.pipeline;
  const state = fixture.join({ namespace: "a", address: "172.16.0.1" });
  assert.deepEqual([translator.nameTables, translator.caches.of.names.counts.built], [0, 0]);
  tableOf(fixture, state);
  assert.equal(translator.nameTables, 1);
  translator.leave(state);
  translator.sweep();
  assert.equal(translator.nameTables, 0);
});

Deno.test("a table has the names that its proxies see: exportTo and Sidecar hide names", () => {
  const fixture = new Fixture();
  fixture.put(
    entry("all.example.com", "10.0.0.1"),
    entry("own.example.com", "10.0.0.2", { exportTo: ["."] }),
    entry("*.wild.example.com", "10.0.0.3"),
    {
      apiVersion: "networking.mesh.io/v1",
      kind: "Sidecar",
      metadata: { name: "one", namespace: "c" },
      spec: { egress: [{ hosts: ["a/all.example.com"] }] },
    },
  );
  fixture.pipeline.flush();
  const seen = (namespace: string) =>
    Object.keys(tableOf(fixture, fixture.join({ namespace, address: "172.16.0.1" }))).sort();
  assert.deepEqual(seen("a"), ["*.wild.example.com", "all.example.com", "own.example.com"]);
  assert.deepEqual(seen("b"), ["*.wild.example.com", "all.example.com"]);
  assert.deepEqual(seen("c"), ["all.example.com"]);
});

Deno.test("ENABLE_MULTICLUSTER_HEADLESS=false leaves pods of other clusters out of a headless service's addresses", () => {
  for (const several of [true, false]) {
    const fixture = new Fixture({ settings: { ENABLE_MULTICLUSTER_HEADLESS: several } });
    const registry = new MockRegistry("Orch");
    const host = "db.a.svc.cluster.local";
    const ports = [{ name: "tcp", port: 90, protocol: "TCP" }] as const;
    registry.addService({ hostname: host, namespace: "a", ports, headless: true, resolution: "passthrough" });
    registry.setEndpoints(`a/${host}`, [
      { address: "10.0.8.1", port: 90, portName: "tcp", clusterId: "Orch" },
      { address: "10.0.8.2", port: 90, portName: "tcp", clusterId: "other" },
    ]);
    void fixture.pipeline.addRegistry(registry);
    fixture.pipeline.flush();
    const table = tableOf(fixture, fixture.join({ namespace: "a", address: "172.16.0.1" }));
    assert.deepEqual(table[host]?.ips, several ? ["10.0.8.1", "10.0.8.2"] : ["10.0.8.1"]);
  }
});

const nodes: readonly TestNode[] = [
  { namespace: "a", address: "172.16.0.1", labels: { app: "p" } },
  { namespace: "a", address: "172.16.0.2", labels: { app: "q" }, metadata: CAPTURES },
  { namespace: "b", address: "172.16.0.3", labels: { app: "q" }, metadata: CAPTURES },
  { namespace: "b", address: "172.16.0.9", labels: { app: "gw" }, type: "router" },
];

Deno.test("changes one by one leave every agent with the table of a fresh start", () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: tree.map((tree) => ({ put: tree })) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constantFrom("ServiceEntry", "WorkloadEntry", "Sidecar"), namespace, name })
        .map(({ kind, namespace, name }) => ({ remove: `${kind}/${namespace}/${name}` })),
    },
    { weight: 3, arbitrary: fc.constant("push" as const) },
    { weight: 1, arbitrary: fc.constant("sweep" as const) },
  );
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 50, size: "max" }), (steps) => {
      const fixture = new Fixture();
      const states = nodes.map((node) => fixture.join(node));
      for (const state of states.slice(1)) tableOf(fixture, state);
      for (const step of steps) {
        if (step === "push") {
          fixture.pipeline.flush();
          for (const state of states.slice(2)) tableOf(fixture, state);
        } else if (step === "sweep") fixture.pipeline.translator.sweep();
        else if ("put" in step) fixture.offer(step.put);
        else fixture.remove(step.remove);
      }
      fixture.pipeline.flush();
      assert.deepEqual(fixture.failures, []);
      const fresh = new Fixture();
      fresh.pipeline.configChanged([], [...fixture.objects.values()]);
      fresh.pipeline.flush();
      for (const [i, state] of states.entries()) {
        assert.deepEqual(tableOf(fixture, state), tableOf(fresh, fresh.join(nodes[i]!)));
      }
    }),
    { numRuns: RUNS },
  );
});
