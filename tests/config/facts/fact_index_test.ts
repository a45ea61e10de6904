/** The view of facts answers like a fresh view, and names the keys whose reading changed. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { FactIndex } from "../../../lib/config/facts/fact_index.ts";
import { FactStore } from "../../../lib/config/facts/store.ts";
import { FACT_KINDS, type FactKind } from "../../../lib/config/facts/types.ts";
import { FACT_QUERIES } from "../../../lib/config/facts/view.ts";
import type { AnyFact } from "../../../lib/config/facts/types.ts";
import { fact, manifest } from "./manifests.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** A store whose changes reach an index. */
function world(domain = "cluster.local") {
  const store = new FactStore();
  const source = store.addSource("folder", 0);
  const index = new FactIndex(store, domain);
  const put = (...facts: AnyFact[]) => index.apply(source.apply({ upserted: facts, removed: [] }));
  const remove = (...keys: string[]) => index.apply(source.apply({ upserted: [], removed: keys }));
  return { store, index, put, remove };
}

test("a service is found by its host, lists of hosts and of a namespace have it, others do not", () => {
  const { index, put, remove } = world("Example.org");
  put(fact(manifest("Service", "shop", "cart", { spec: { clusterIP: "None", ports: [{ port: 80 }] } })));
  const found = index.service("cart.shop.svc.example.org");
  assert.equal(found?.fact.key, "Service/shop/cart");
  assert.equal(found?.headless, true);
  assert.deepEqual(index.hosts(), ["cart.shop.svc.example.org"]);
  assert.deepEqual(index.services("shop"), [found]);
  for (const host of ["cart.shop.svc.cluster.local", "cart", "shop.svc.example.org", ".svc.example.org", ""]) {
    assert.equal(index.service(host), undefined, host);
  }
  assert.equal(index.empty("hosts"), false);
  remove("Service/shop/cart");
  assert.equal(index.service("cart.shop.svc.example.org"), undefined);
  assert.deepEqual([index.hosts(), index.services("shop"), index.empty("hosts")], [[], [], true]);
});

test("workloads are found by the labels of their pods, in their namespace alone", () => {
  const { index, put } = world();
  const pods = (labels: Record<string, string>) => ({ metadata: { labels }, spec: { containers: [] } });
  put(
    fact(manifest("Deployment", "shop", "a", { spec: { template: pods({ app: "cart", version: "v1" }) } })),
    fact(manifest("StatefulSet", "shop", "b", { spec: { template: pods({ app: "cart", version: "v2" }) } })),
    fact(manifest("Pod", "other", "c", { metadata: { labels: { app: "cart" } }, spec: {} })),
  );
  const names = (labels: Record<string, string>) => index.workloadsWith("shop", labels).map(({ key }) => key);
  assert.deepEqual(names({}), ["Deployment/shop/a", "StatefulSet/shop/b"]);
  assert.deepEqual(names({ app: "cart", version: "v2" }), ["StatefulSet/shop/b"]);
  assert.deepEqual(names({ app: "cart", version: "v3" }), []);
  assert.deepEqual(names({ constructor: "x" }), []);
  assert.deepEqual(index.workloadsWith("nowhere", {}), []);
});

test("endpoints of a service come from its Endpoints and its slices", () => {
  const { index, put } = world();
  const host = "cart.shop.svc.cluster.local";
  assert.deepEqual(index.endpoints(host), []);
  const slice = (name: string, ip: string) =>
    fact(manifest("EndpointSlice", "shop", name, {
      metadata: { labels: { "kubernetes.io/service-name": "cart" } },
      addressType: "IPv4",
      endpoints: [{ addresses: [ip], conditions: { ready: false } }],
    }));
  put(slice("cart-1", "10.0.0.1"));
  const one = index.endpoints(host);
  put(slice("cart-2", "10.0.0.2"), fact(manifest("Endpoints", "shop", "cart", { subsets: [{ addresses: [] }] })));
  const addresses = index.endpoints(host).flatMap((subset) => subset.endpoints.flatMap((one) => one.addresses));
  assert.deepEqual([one.length, index.endpoints(host).length, addresses], [1, 3, ["10.0.0.1", "10.0.0.2"]]);
});

test("secrets and config maps show names and lengths of their keys", () => {
  const { index, put } = world();
  put(
    fact(manifest("Secret", "shop", "tls", { type: "kubernetes.io/tls", stringData: { "tls.key": "1234" } })),
    fact(manifest("ConfigMap", "shop", "settings", { data: { b: "12", a: "1" } })),
  );
  const secret = index.secret("shop", "tls");
  assert.deepEqual([secret?.type, [...secret?.keys ?? []]], ["kubernetes.io/tls", [["tls.key", 4]]]);
  assert.deepEqual([...index.configMap("shop", "settings")?.keys ?? []], [["a", 1], ["b", 2]]);
  assert.equal(index.secret("shop", "settings"), undefined);
});

test("a namespace is known by its Namespace object or by any other fact in it", () => {
  const { index, put, remove } = world();
  put(fact(manifest("Namespace", "", "shop", { metadata: { labels: { "istio-injection": "enabled" } } })));
  put(fact(manifest("Pod", "other", "a", { spec: {} })), fact(manifest("Pod", "other", "b", { spec: {} })));
  assert.deepEqual(index.namespaces(), ["other", "shop"]);
  assert.deepEqual(index.namespace("shop")?.meta.labels, { "mesh-injection": "enabled" });
  assert.equal(index.namespace("other"), undefined);
  remove("Pod/other/a");
  assert.deepEqual(index.namespaces(), ["other", "shop"]);
  remove("Pod/other/b");
  assert.deepEqual(index.namespaces(), ["shop"]);
});

test("a change invalidates only the keys of the changed facts", () => {
  const { put } = world();
  const service = (port: number) => fact(manifest("Service", "shop", "cart", { spec: { ports: [{ port }] } }));
  const first = put(service(80));
  assert.ok(first.has("fact-host", "cart.shop.svc.cluster.local") && first.has("fact-lists", "hosts"));
  const second = put(service(81));
  assert.ok(second.has("fact-host", "cart.shop.svc.cluster.local") && second.has("fact-services", "shop"));
  assert.ok(!second.has("fact-lists", "hosts") && !second.has("fact-workloads", "shop"), "no list of names changed");
  assert.equal(second.size, 2);
});

/** Every answer of an index about a small world. */
function answers(index: FactIndex): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const namespace of ["x", "y"]) {
    for (const name of ["a", "b"]) {
      const [host, key] = [`${name}.${namespace}.svc.cluster.local`, `${namespace}/${name}`];
      for (const query of ["service", "endpoints"] as const) {
        found.set(`${FACT_QUERIES[query].on[0]} ${host}`, FACT_QUERIES[query].ask({ facts: index }, host));
      }
      for (const query of ["secret", "configMap", "serviceAccount"] as const) {
        found.set(`${FACT_QUERIES[query].on[0]} ${key}`, FACT_QUERIES[query].ask({ facts: index }, key));
      }
    }
    for (const query of ["services", "workloads", "namespace"] as const) {
      found.set(`${FACT_QUERIES[query].on[0]} ${namespace}`, FACT_QUERIES[query].ask({ facts: index }, namespace));
    }
  }
  for (const list of ["hosts", "namespaces"] as const) {
    found.set(`fact-lists ${list}`, FACT_QUERIES[list].ask({ facts: index }, list));
  }
  return found;
}

test("after any changes every answer equals a fresh index's answer, and is the same object unless its key was invalidated", () => {
  const change = fc.record({
    kind: fc.constantFrom<FactKind>(...FACT_KINDS),
    namespace: fc.constantFrom("x", "y"),
    name: fc.constantFrom("a", "b"),
    label: fc.constantFrom("1", "2", undefined),
  });
  fc.assert(fc.property(fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 12 }), (steps) => {
    const { store, index, put, remove } = world();
    for (const step of steps) {
      const before = answers(index);
      const there = new Map(step.map((one) => [`${one.kind}/${one.namespace}/${one.name}`, one]));
      const keys = [];
      for (const { kind, namespace, name, label } of there.values()) {
        const made = fact(manifest(kind, kind === "Namespace" ? "" : namespace, name, {
          ...(label === undefined ? {} : { metadata: { labels: { label, "kubernetes.io/service-name": "a" } } }),
        }));
        keys.push(label === undefined ? remove(made.key) : put(made));
      }
      const after = answers(index);
      assert.deepEqual(after, answers(new FactIndex(store, "cluster.local")));
      for (const [key, answer] of after) {
        const [kind, name] = key.split(" ") as [string, string];
        if (keys.some((invalid) => invalid.has(kind, name))) continue;
        assert.equal(answer, before.get(key), `${key} is another object, and nothing said so`);
      }
    }
  }));
});
