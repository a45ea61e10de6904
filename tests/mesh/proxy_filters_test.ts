/** Selection and order of ProxyFilters for a workload. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { parseObject } from "../../lib/config/object.ts";
import { type ProxyFilter, ProxyFilterIndex } from "../../lib/mesh/proxy_filter.ts";
import { inFile } from "../config/origins.ts";

const ROOT = "mesh-system";

interface Written {
  readonly priority?: number;
  /** A larger age is older. */
  readonly age?: number;
  readonly app?: string;
}

function filter(name: string, namespace: string, { priority, age = 1, app }: Written = {}): ProxyFilter {
  const tree = {
    apiVersion: "networking.istio.io/v1alpha3",
    kind: "EnvoyFilter",
    metadata: { name, namespace, creationTimestamp: new Date(1e12 - age * 1000).toISOString() },
    spec: {
      ...(priority === undefined ? {} : { priority }),
      ...(app === undefined ? {} : { workloadSelector: { labels: { app } } }),
      configPatches: [{ applyTo: "CLUSTER", patch: { operation: "REMOVE" } }],
    },
  };
  const { object, findings } = parseObject(tree, inFile("test"), { defaultNamespace: "default" });
  assert.ok(object, JSON.stringify(findings));
  return object as ProxyFilter;
}

const cart = { namespace: "shop", labels: { app: "cart", version: "v1" } };

function names(filters: readonly ProxyFilter[], workload = cart): string[] {
  const index = new ProxyFilterIndex(ROOT);
  index.update([], filters);
  return index.of(workload).map(({ meta: { name } }) => name);
}

Deno.test("the lowest priority is first, whoever wrote it; then the root namespace's, then the oldest, then by name", () => {
  const inOrder = [
    filter("lowest", "shop", { priority: -3 }),
    filter("root-young", ROOT, { age: 1 }),
    filter("zero-oldest", "shop", { age: 9, priority: 0 }),
    filter("old", "shop", { age: 5, app: "cart" }),
    filter("a", "shop", { age: 2 }),
    filter("b", "shop", { age: 2, app: "cart" }),
    filter("root-late", ROOT, { priority: 5, age: 1 }),
    filter("late", "shop", { priority: 5, age: 9 }),
    filter("last", "shop", { priority: 6, age: 99 }),
  ];
  const wanted = inOrder.map(({ meta: { name } }) => name);
  fc.assert(fc.property(fc.shuffledSubarray(inOrder, { minLength: inOrder.length }), (filters) => {
    assert.deepEqual(names(filters), wanted);
  }));
});

Deno.test("objects of the root namespace are for all, others for workloads of theirs; a selector narrows both", () => {
  const filters = [
    filter("everywhere", ROOT),
    filter("carts", ROOT, { app: "cart" }),
    filter("here", "shop"),
    filter("our-carts", "shop", { app: "cart" }),
    filter("our-desks", "shop", { app: "desk" }),
    filter("elsewhere", "other"),
  ];
  const of = (namespace: string, app: string) =>
    names(filters, { namespace, labels: { app, version: "v1" } }).sort().join(" ");
  assert.equal(of("shop", "cart"), "carts everywhere here our-carts");
  assert.equal(of("shop", "desk"), "everywhere here our-desks");
  assert.equal(of("other", "cart"), "carts elsewhere everywhere");
  assert.equal(of("third", "desk"), "everywhere");
});

Deno.test("workloads with the same filters have one list, until one of these changes", () => {
  const index = new ProxyFilterIndex(ROOT);
  const [all, own, other] = [filter("all", "shop"), filter("own", "shop", { app: "cart" }), filter("other", "other")];
  index.update([], [all, own, other]);
  const desk = { namespace: "shop", labels: { app: "desk" } };
  const bench = { namespace: "shop", labels: { app: "bench" } };
  const before = index.of(desk);
  assert.equal(index.of(bench), before);
  assert.notEqual(index.of(cart), before);
  assert.deepEqual([...index.update([other], [])], ["other"]);
  assert.equal(index.of(desk), before);
  assert.deepEqual([...index.update([all], [filter("all", "shop", { priority: 1 })])], ["shop"]);
  assert.notEqual(index.of(desk), before);
});
