import assert from "node:assert/strict";
import fc from "fast-check";
import { parseObject } from "../../lib/config/object.ts";
import type { ConfigObject } from "../../lib/config/types.ts";
import { PeerAuthenticationIndex, peerTlsModeOf, type PeerTlsPolicy } from "../../lib/mesh/peer_authentication.ts";
import { inFile } from "../config/origins.ts";

const ROOT = "mesh-system";
type Policy = ConfigObject<"PeerAuthentication">;

function policy(name: string, namespace: string, spec: object, created = "2024-01-01T00:00:00Z"): Policy {
  const metadata = { name, namespace, creationTimestamp: created };
  const tree = { apiVersion: "security.mesh.io/v1", kind: "PeerAuthentication", metadata, spec };
  const { object, findings } = parseObject(tree, inFile("test"), { defaultNamespace: "default" });
  assert.ok(object, JSON.stringify(findings));
  return object as Policy;
}

function index(...policies: readonly Policy[]): PeerAuthenticationIndex {
  const made = new PeerAuthenticationIndex(ROOT);
  made.update([], policies);
  return made;
}

const cart = { namespace: "shop", labels: { app: "cart" } };
const ofCart = { selector: { matchLabels: { app: "cart" } } };
const mtls = (mode: string) => ({ mtls: { mode } });

function plain({ mode, ports, causes }: PeerTlsPolicy) {
  return { mode, ports: Object.fromEntries(ports), causes };
}

Deno.test("without a policy a workload is permissive; the nearest level that sets a mode has it", () => {
  assert.deepEqual(plain(index().of(cart)), { mode: "PERMISSIVE", ports: {}, causes: [] });
  const mesh = policy("m", ROOT, mtls("STRICT"));
  const namespace = policy("n", "shop", mtls("DISABLE"));
  const workload = policy("w", "shop", { ...ofCart, ...mtls("PERMISSIVE") });
  const levels: [Policy[], string, string][] = [
    [[mesh], "STRICT", mesh.key],
    [[mesh, namespace], "DISABLE", namespace.key],
    [[mesh, namespace, workload], "PERMISSIVE", workload.key],
  ];
  for (const [policies, mode, cause] of levels) {
    assert.deepEqual(plain(index(...policies).of(cart)), { mode, ports: {}, causes: [cause] });
  }
  assert.equal(index(mesh, namespace, workload).of({ namespace: "other", labels: cart.labels }).mode, "STRICT");
});

Deno.test("UNSET is inherited at every level, ports inherit from their workload", () => {
  const found = index(
    policy("m", ROOT, mtls("STRICT")),
    policy("n", "shop", mtls("UNSET")),
    policy("w", "shop", { ...ofCart, portLevelMtls: { 80: { mode: "UNSET" }, 90: { mode: "DISABLE" } } }),
  ).of(cart);
  assert.deepEqual(plain(found), {
    mode: "STRICT",
    ports: { 80: "STRICT", 90: "DISABLE" },
    causes: [`PeerAuthentication/${ROOT}/m`, "PeerAuthentication/shop/w"],
  });
  assert.deepEqual([80, 90, 100].map((port) => peerTlsModeOf(found, port)), ["STRICT", "DISABLE", "STRICT"]);
});

Deno.test("of several on one level the oldest holds, with its ports alone", () => {
  const found = index(
    policy(
      "young",
      "shop",
      { ...ofCart, ...mtls("STRICT"), portLevelMtls: { 90: { mode: "STRICT" } } },
      "2024-02-01T00:00:00Z",
    ),
    policy("old", "shop", { ...ofCart, ...mtls("DISABLE") }),
  ).of(cart);
  assert.deepEqual(plain(found), { mode: "DISABLE", ports: {}, causes: ["PeerAuthentication/shop/old"] });
});

Deno.test("a policy of the root namespace with labels is for its own workloads alone", () => {
  const made = index(policy("w", ROOT, { ...ofCart, ...mtls("STRICT") }));
  assert.equal(made.of(cart).mode, "PERMISSIVE");
  assert.equal(made.of({ namespace: ROOT, labels: cart.labels }).mode, "STRICT");
});

Deno.test("workloads with the same policies share one merged policy, and an edit elsewhere leaves it alone", () => {
  const made = index(policy("n", "shop", mtls("STRICT")), policy("w", "shop", { ...ofCart, ...mtls("DISABLE") }));
  const other = { namespace: "shop", labels: { app: "other", version: "1" } };
  const before = made.of(other);
  assert.equal(made.of({ namespace: "shop", labels: {} }), before);
  const edited = policy("w", "shop", { ...ofCart, ...mtls("STRICT") });
  const ofCartBefore = made.of(cart);
  made.update([policy("w", "shop", { ...ofCart, ...mtls("DISABLE") })], [edited]);
  assert.equal(made.of(other), before);
  assert.notEqual(made.of(cart), ofCartBefore);
  assert.equal(made.of(cart).mode, "STRICT");
});

const mode = fc.constantFrom("UNSET", "DISABLE", "PERMISSIVE", "STRICT");
const anyPolicy = fc.record({
  name: fc.constantFrom("a", "b", "c"),
  namespace: fc.constantFrom("shop", "pay", ROOT),
  selector: fc.constantFrom(undefined, { app: "cart" }, { app: "other" }),
  mode,
  port: fc.option(mode, { nil: undefined }),
  month: fc.integer({ min: 1, max: 9 }),
}).map(({ name, namespace, selector, mode, port, month }) =>
  policy(name, namespace, {
    mtls: { mode },
    ...(selector ? { selector: { matchLabels: selector } } : {}),
    ...(selector && port ? { portLevelMtls: { 80: { mode: port } } } : {}),
  }, `2024-0${month}-01T00:00:00Z`)
);

Deno.test("after any changes an index answers like a fresh index, and each change names the concerned namespaces", () => {
  const workloads = ["shop", "pay", ROOT, "empty"].flatMap((namespace) =>
    ["cart", "other", "none"].map((app) => ({ namespace, labels: { app } }))
  );
  const step = fc.record({ put: anyPolicy, removes: fc.boolean() });
  fc.assert(fc.property(fc.array(step, { maxLength: 15 }), (steps) => {
    const made = new PeerAuthenticationIndex(ROOT);
    const there = new Map<string, Policy>();
    const answers = () =>
      workloads.map((workload) => ({
        workload,
        policy: made.of(workload),
        refused: made.refusedIn(workload.namespace),
      }));
    for (const { put, removes } of steps) {
      const before = answers();
      const old = there.get(put.key);
      const change = made.update(old ? [old] : [], removes ? [] : [put]);
      if (removes) there.delete(put.key);
      else there.set(put.key, put);
      const named = (set: ReadonlySet<string>, namespace: string) => set.has("*") || set.has(namespace);
      for (const [i, { workload, policy, refused }] of answers().entries()) {
        const { namespace } = workload;
        if (!named(change.namespaces, namespace)) assert.equal(policy, before[i]!.policy);
        if (!named(change.refusing, namespace)) assert.equal(refused, before[i]!.refused);
      }
    }
    const fresh = index(...there.values());
    for (const workload of workloads) {
      assert.deepEqual(plain(made.of(workload)), plain(fresh.of(workload)));
      const refuses = made.refusedIn(workload.namespace)?.has(workload.labels, 80) === true;
      assert.equal(refuses, peerTlsModeOf(fresh.of(workload), 80) === "DISABLE");
    }
  }));
});
