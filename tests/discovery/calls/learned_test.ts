/** The Sidecar that fits what a workload has called: it keeps what was called, leaves the rest out, and the figures are those of the resources. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { stringify } from "yaml";
import { scopeText } from "../../../cmd/pilot-discovery/scope_command.ts";
import { callingWorkloads, hostIn } from "../../../lib/debug/calling_workloads.ts";
import { scopeOf } from "../../../lib/debug/learned_scope.ts";
import { savingsOf } from "../../../lib/debug/savings.ts";
import type { RememberedCalls } from "../../../lib/debug/view.ts";
import { CLUSTER } from "../../../lib/xds/protocol/types.ts";
import { Fixture, service } from "../fixture.ts";
import { runs } from "../../properties.ts";

const DAY = 86_400_000;
const COUNT = 30;

function world(...further: readonly object[]) {
  const fixture = new Fixture();
  const services = Array.from({ length: COUNT }, (_, i) => service(i + 1, { namespace: i % 2 === 0 ? "x" : "y" }));
  fixture.put(...services, ...further);
  fixture.pipeline.flush();
  let count = 0;
  const remembered: RememberedCalls[] = [];
  const view = {
    get translator() {
      return fixture.pipeline.translator;
    },
    calls: () => remembered,
  };
  return {
    fixture,
    view,
    join(
      workload: string,
      { asks = true, namespace = "shop", labels = { app: workload } as Record<string, string> } = {},
    ) {
      const metadata = {
        ...{ WORKLOAD_NAME: { stringValue: workload }, PROXY_CONFIG: { stringValue: "{}" } },
        ...asks ? { ON_DEMAND: { stringValue: "true" } } : {},
      };
      return fixture.join({ namespace, address: `10.9.0.${++count}`, labels, metadata });
    },
    called(workload: string, ...names: string[]) {
      const calls = new Map(names.map((name, i) => [name, DAY + i]));
      remembered.push({ workload: { namespace: "shop", account: "a", name: workload }, calls });
    },
    scope(workload: string) {
      const all = callingWorkloads(view);
      return scopeOf(all.find((one) => one.workload === workload)!, all);
    },
  };
}

const hostName = (i: number) => `80/s${i}.example.com:80`;
const clusterName = (i: number) => `outbound|80||s${i}.example.com`;

Deno.test("the Sidecar has the called hosts, the hosts of their routes, and a selector for the workload", () => {
  const { scope, join, called } = world({
    ...{ apiVersion: "networking.mesh.io/v1", kind: "VirtualService", metadata: { name: "v", namespace: "x" } },
    spec: { hosts: ["s1.example.com"], http: [{ route: [{ destination: { host: "s8.example.com" } }] }] },
  });
  join("cart", { labels: { app: "cart", version: "v1", "pod-template-hash": "1" } });
  join("cart", { labels: { app: "cart", version: "v2", "pod-template-hash": "2" } });
  called("cart", hostName(1), clusterName(4), "80/gone.example.com:80");
  const { sidecar, gone, leavesOut, alsoSelects, knowledge, why } = scope("cart");
  assert.deepEqual(sidecar, {
    apiVersion: "networking.mesh.io/v1",
    kind: "Sidecar",
    metadata: { name: "cart", namespace: "shop" },
    spec: {
      workloadSelector: { labels: { app: "cart" } },
      egress: [{ hosts: ["x/s1.example.com", "y/s4.example.com", "y/s8.example.com"] }],
    },
  });
  assert.deepEqual([gone, alsoSelects, why], [["gone.example.com"], [], undefined]);
  assert.deepEqual(leavesOut, { services: COUNT - 3, of: COUNT, byNamespace: { x: 14, y: 13 } });
  assert.equal(knowledge, "all connected sidecars ask, so their calls are known");
});

Deno.test("what is not known is said: sidecars with everything, no call, no sidecar, a selector of several workloads", () => {
  const { scope, join, called } = world();
  join("eager", { asks: false });
  const eager = scope("eager");
  assert.equal(eager.sidecar, undefined);
  assert.match(eager.knowledge, /^1 connected sidecar has everything and ask/);
  assert.match(eager.why!, /^no call is known: give one pod the label mesh\.io\/on-demand=true/);
  join("mixed");
  join("mixed", { asks: false });
  called("mixed", hostName(1));
  assert.equal(scope("mixed").knowledge, "1 connected sidecar has everything, and calls of these are not known");
  join("idle");
  assert.equal(scope("idle").why, "the workload has called no host of the mesh yet");
  called("away", hostName(1));
  assert.match(scope("away").why!, /^no sidecar of the workload is connected/);
  join("one", { labels: { app: "both" } });
  join("two", { labels: { app: "both" } });
  called("one", hostName(1));
  assert.deepEqual(scope("one").alsoSelects, ["two"]);
  const text = scopeText(scope("one"));
  assert.match(text, /# Check the selector: it also selects two, whose calls are not in the list\.\n/);
  assert.ok(text.endsWith(stringify(scope("one").sidecar)));
  assert.match(scopeText(eager), /^(?:# .*\n)+$/, "without a Sidecar there are comments alone");
});

Deno.test("the figures: bytes of resources, and memory that falls with them", () => {
  const { scope, join, called, view } = world();
  const state = join("cart");
  join("cart", { asks: false });
  called("cart", hostName(1), hostName(2));
  join("other", { asks: false, namespace: "else" });
  const { bytes, memory } = scope("cart");
  const clusters = (state.resourceSets(CLUSTER) ?? []).flatMap((set) => [...set]);
  const left = clusters.filter(({ name }) => !["s1.example.com", "s2.example.com", undefined].includes(hostIn(name)));
  const least = left.reduce((sum, { value }) => sum + value.length, 0);
  assert.ok(left.length === COUNT - 2 && bytes!.everything - bytes!.called > least, "more than the clusters alone");
  assert.ok(memory!.called <= memory!.everything && memory!.called >= 60);
  const savings = savingsOf(view);
  assert.deepEqual(savings.map(({ namespace, asking, known, unknown }) => [namespace, asking, known, unknown]), [
    ["else", 0, 0, 1],
    ["shop", 1, 1, 0],
  ]);
  const [elsewhere, shop] = savings;
  assert.equal(shop!.saved.bytes, bytes!.everything - bytes!.called);
  assert.deepEqual([shop!.wouldSave, shop!.atMost], [shop!.saved, { memory: 0, bytes: 0 }]);
  assert.ok(elsewhere!.atMost.bytes > shop!.saved.bytes, "a workload that calls nothing would save most");
});

Deno.test("in random worlds a proxy under the printed Sidecar has the routes and clusters of everything that was called", () => {
  const all = fc.uniqueArray(fc.integer({ min: 1, max: COUNT }), { minLength: 1, maxLength: 6 });
  const routes = fc.array(fc.tuple(fc.integer({ min: 1, max: COUNT }), fc.integer({ min: 1, max: COUNT })), {
    maxLength: 5,
  });
  fc.assert(
    fc.property(all, all, routes, (hosts, clusters, rules) => {
      const objects = rules.map(([from, to], i) => ({
        ...{ apiVersion: "networking.mesh.io/v1", kind: "VirtualService", metadata: { name: `v${i}`, namespace: "x" } },
        spec: { hosts: [`s${from}.example.com`], http: [{ route: [{ destination: { host: `s${to}.example.com` } }] }] },
      }));
      const { fixture, scope, join, called } = world(...objects);
      const before = join("cart");
      called("cart", ...hosts.map(hostName), ...clusters.map(clusterName));
      const { sidecar, bytes } = scope("cart");
      const held = hosts.map((i) => before.virtualHosts("80").map((set) => set.get(hostName(i))?.version));
      assert.ok(fixture.offer(sidecar), "the server accepts the printed object");
      fixture.pipeline.flush();
      const under = join("cart", { asks: false });
      const sets = under.resourceSets(CLUSTER)!;
      for (const name of clusters.map(clusterName)) assert.ok(sets.some((set) => set.has(name)), name);
      hosts.forEach((i, at) => {
        const now = join("cart").virtualHosts("80").map((set) => set.get(hostName(i))?.version);
        assert.deepEqual(now, held[at], `routes of s${i}`);
      });
      const others = sets.flatMap((set) => [...set]).filter(({ name }) => name.startsWith("outbound|"));
      assert.ok(others.length <= hosts.length + clusters.length + rules.length);
      const eager = scope("cart").bytes!.everything;
      assert.ok(eager <= bytes!.everything, "a Sidecar makes the configuration smaller");
    }),
    { numRuns: runs(25) },
  );
});
