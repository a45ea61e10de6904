/** Many pods at once, as at a start: registries work in steps, and nothing that comes late is missed. */
import assert from "node:assert/strict";
import { Aggregate } from "../../../lib/registry/aggregate.ts";
import { EndpointIndex } from "../../../lib/registry/endpoint_index.ts";
import { OrchRegistry } from "../../../lib/registry/orch/registry.ts";
import { WorkloadSelection } from "../../../lib/registry/selection.ts";
import type { RegistrySink } from "../../../lib/registry/types.ts";
import { RecordingSink } from "../objects.ts";
import { ORCH_OPTIONS, pod, service } from "./cluster.ts";

const COUNT = 2500;
const pods = Array.from({ length: COUNT }, (_, i) => pod(`cart-${i}`, `10.0.${i >> 8}.${i & 255}`, { app: "cart" }));

Deno.test("many pods are reported in several reports, between which other work runs, and each pod once", () => {
  const registry = new OrchRegistry(ORCH_OPTIONS);
  const sizes: number[] = [];
  const seen = new Set<string>();
  let turns = 0;
  const sink: RegistrySink = new RecordingSink();
  void registry.start({
    ...{ services: sink.services.bind(sink), endpoints: sink.endpoints.bind(sink), networks: sink.networks.bind(sink) },
    workloads: (upserted) => {
      if (upserted.length === 0) return;
      sizes.push(upserted.length);
      assert.ok(turns > 0, "no two reports in one step");
      turns = 0;
      for (const { id, serves } of upserted) {
        assert.equal(seen.has(id), false);
        assert.equal(serves?.length, 1, "services are known before the workloads");
        seen.add(id);
      }
    },
  });
  for (const _ of registry.applySteps([...pods, service("cart")], [])) turns++;
  assert.equal(seen.size, COUNT);
  assert.ok(Math.max(...sizes) <= 1000, `${sizes}`);
});

Deno.test("a pod that is reported with its services is reported again when they change, and not when nothing does", () => {
  const registry = new OrchRegistry(ORCH_OPTIONS);
  const sink: RegistrySink = new RecordingSink();
  const reports: (readonly [name: string, serves: readonly number[]])[] = [];
  void registry.start({
    ...{ services: sink.services.bind(sink), endpoints: sink.endpoints.bind(sink), networks: sink.networks.bind(sink) },
    workloads: (upserted) => {
      for (const { name, serves = [] } of upserted) reports.push([name, serves.map(({ port }) => port)]);
    },
  });
  const taken = () => reports.splice(0);
  const cart = () => pod("cart", "10.0.0.1", { app: "cart" });
  registry.apply([cart(), service("cart")], []);
  assert.deepEqual(taken(), [["cart", [8080]]]);
  registry.apply([cart(), service("cart")], []);
  assert.deepEqual(taken(), [], "equal objects");
  registry.apply([pod("cart", "10.0.0.2", { app: "cart" })], []);
  assert.deepEqual(taken(), [["cart", [8080]]], "another address, the same services");
  registry.apply([pod("cart", "10.0.0.2", { app: "other" })], []);
  assert.deepEqual(taken(), [["cart", []]], "other labels");
  registry.apply([cart()], []);
  assert.deepEqual(taken(), [["cart", [8080]]]);
  registry.apply([], [service("cart").key]);
  assert.deepEqual(taken(), [["cart", []]], "the service is gone");
  registry.apply([service("cart")], []);
  assert.deepEqual(taken(), [["cart", [8080]]]);
  assert.equal(registry.check([cart(), service("cart")], []), 2, "objects of other versions, and nothing else differs");
});

Deno.test("the workloads of an address are the same, whichever comes first", () => {
  const registry = new OrchRegistry(ORCH_OPTIONS);
  const aggregate = new Aggregate(new EndpointIndex());
  void registry.start(aggregate.sink(registry));
  const names = () => aggregate.workloadsAt("10.9.9.9").map(({ name }) => name);
  const shared = ["b", "a", "c"].map((name) => pod(name, "10.9.9.9", {}, { spec: { hostNetwork: true } }));
  registry.apply(shared, []);
  assert.deepEqual(names(), ["a", "b", "c"]);
  registry.apply([], [shared[1]!.key]);
  assert.deepEqual(names(), ["b", "c"]);
});

Deno.test("an index without entries learns of earlier workloads when an entry selects, and of changes from then on", () => {
  const known = new Map([["1", { namespace: "shop", labels: { app: "cart" } }]]);
  const index = new WorkloadSelection<{ namespace: string; selector: Record<string, string> }, {
    readonly namespace: string;
    readonly labels: Record<string, string>;
  }>(() => known);
  const gone = { namespace: "shop", labels: { app: "cart", version: "old" } };
  index.addWorkload("0", gone);
  index.removeWorkload("0", gone);
  assert.deepEqual([...index.entriesOf(known.get("1")!)], []);
  const entry = { namespace: "shop", selector: { app: "cart" } };
  index.addEntry(entry);
  assert.deepEqual(index.workloadsOf(entry), [known.get("1")]);
  assert.deepEqual([...index.entriesOf(known.get("1")!)], [entry]);
  const next = { namespace: "shop", labels: { app: "cart" } };
  index.addWorkload("2", next);
  index.removeWorkload("1", known.get("1")!);
  assert.deepEqual(index.workloadsOf(entry), [next]);
});
