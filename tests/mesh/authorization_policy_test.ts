import assert from "node:assert/strict";
import fc from "fast-check";
import { parseObject } from "../../lib/config/object.ts";
import { type AuthorizationPolicy, AuthorizationPolicyIndex } from "../../lib/mesh/authorization_policy.ts";
import { inFile } from "../config/origins.ts";

const ROOT = "mesh-system";

function policy(name: string, namespace: string, spec: object, creationTimestamp?: string): AuthorizationPolicy {
  const metadata = { name, namespace, ...(creationTimestamp !== undefined && { creationTimestamp }) };
  const tree = { apiVersion: "security.mesh.io/v1", kind: "AuthorizationPolicy", metadata, spec };
  const { object, findings } = parseObject(tree, inFile("test"), { defaultNamespace: "default" });
  assert.ok(object, JSON.stringify(findings));
  return object as AuthorizationPolicy;
}

const selects = (app: string) => ({ selector: { matchLabels: { app } } });
const gateway = { targetRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "edge" }] };
const workload = (namespace: string, app: string) => ({ namespace, labels: { app } });
const edge = (namespace: string) => ({
  namespace,
  labels: { app: "edge", "gateway.networking.k8s.io/gateway-name": "edge" },
});

function names(index: AuthorizationPolicyIndex, of: Parameters<AuthorizationPolicyIndex["of"]>[0]): string[] {
  return index.of(of).map(({ meta }) => `${meta.namespace}/${meta.name}`);
}

Deno.test("policies of the mesh, the namespace, labels and a named gateway hold together", () => {
  const index = new AuthorizationPolicyIndex(ROOT);
  index.update([], [
    policy("mesh", ROOT, {}),
    policy("mesh-cart", ROOT, selects("cart")),
    policy("all", "shop", {}),
    policy("cart", "shop", selects("cart")),
    policy("edge", "shop", gateway),
    policy("root-edge", ROOT, gateway),
  ]);
  assert.deepEqual(names(index, workload("shop", "cart")), [
    `${ROOT}/mesh`,
    `${ROOT}/mesh-cart`,
    "shop/all",
    "shop/cart",
  ]);
  assert.deepEqual(names(index, workload("pay", "cart")), [`${ROOT}/mesh`, `${ROOT}/mesh-cart`]);
  assert.deepEqual(names(index, edge("shop")), [`${ROOT}/mesh`, "shop/all", "shop/edge"]);
  assert.deepEqual(names(index, edge(ROOT)), [`${ROOT}/mesh`, `${ROOT}/root-edge`]);
});

Deno.test("policies without targets hold at the workload of a waypoint together, also where labels choose no gateway", () => {
  const index = new AuthorizationPolicyIndex(ROOT, { selectsGateways: false });
  index.update([], [
    policy("mesh", ROOT, {}),
    policy("mesh-edge", ROOT, selects("edge")),
    policy("all", "shop", {}),
    policy("edge", "shop", selects("edge")),
    policy("cart", "shop", selects("cart")),
    policy("named", "shop", gateway),
    policy("all", "pay", {}),
  ]);
  const [one, two] = [{ ...edge("shop"), ofWaypoint: [] }, { ...edge("shop"), ofWaypoint: [] }];
  const found = () => index.layered(one).map(({ meta }) => `${meta.namespace}/${meta.name}`);
  assert.deepEqual(found(), [`${ROOT}/mesh`, `${ROOT}/mesh-edge`, "shop/all", "shop/edge"]);
  assert.deepEqual(index.of(one), []);
  const list = index.layered(one);
  assert.equal(index.layered(two), list, "replicas share the list");
  index.update([], [policy("all", "lab", {})]);
  assert.equal(index.layered(one), list);
  index.update([policy("edge", "shop", selects("edge"))], []);
  assert.deepEqual(found(), [`${ROOT}/mesh`, `${ROOT}/mesh-edge`, "shop/all"]);
});

const anyPolicy = fc.record({
  name: fc.constantFrom("a", "b", "c"),
  namespace: fc.constantFrom("shop", "pay", ROOT),
  of: fc.constantFrom({}, selects("cart"), selects("edge"), gateway),
  month: fc.constantFrom(1, 1, 2),
}).map(({ name, namespace, of, month }) => policy(name, namespace, of, `2024-0${month}-01T00:00:00Z`));

Deno.test("after any changes an index answers like a fresh index; a list stays the same object until one of its policies changes, and each change names its namespaces", () => {
  const workloads = ["shop", "pay", ROOT, "empty"].flatMap((namespace) => [
    workload(namespace, "cart"),
    { namespace, labels: { app: "cart", version: "2" } },
    edge(namespace),
  ]);
  const batch = fc.array(fc.tuple(anyPolicy, fc.boolean()), { minLength: 1, maxLength: 3 });
  fc.assert(fc.property(fc.array(batch, { maxLength: 25 }), (changes) => {
    const index = new AuthorizationPolicyIndex(ROOT);
    const there = new Map<string, AuthorizationPolicy>();
    for (const steps of changes) {
      const before = workloads.map((one) => index.of(one));
      const last = new Map(steps.map(([put, removes]) => [put.key, removes ? undefined : put]));
      const removed = [...last.keys()].flatMap((key) => there.get(key) ?? []);
      const added = [...last.values()].filter((one) => one !== undefined);
      const touched = index.update(removed, added);
      for (const { key } of removed) there.delete(key);
      for (const one of added) there.set(one.key, one);
      for (const [i, one] of workloads.entries()) {
        const [now, layered] = [index.of(one), index.layered(one)];
        assert.ok(layered.every((policy) => there.get(policy.key) === policy));
        const same = now.length === before[i]!.length && now.every((policy, at) => policy === before[i]![at]);
        assert.equal(now === before[i], same);
        if (!same) assert.ok(touched.has("*") || touched.has(one.namespace));
      }
      assert.equal(
        index.of(workloads[0]!),
        index.of(workloads[1]!),
        "labels that nothing selects make no separate list",
      );
    }
    const fresh = new AuthorizationPolicyIndex(ROOT);
    fresh.update([], [...there.values()].reverse());
    for (const one of workloads) {
      assert.deepEqual(index.of(one), fresh.of(one));
      assert.deepEqual(index.layered(one), fresh.layered(one));
    }
  }));
});
