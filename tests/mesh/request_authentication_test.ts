/** Rules about tokens for a workload. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { parseObject } from "../../lib/config/object.ts";
import type { ConfigObject } from "../../lib/config/types.ts";
import { NO_TOKEN_POLICY, RequestAuthenticationIndex } from "../../lib/mesh/request_authentication.ts";
import { inFile } from "../config/origins.ts";

const ROOT = "mesh-system";
type Policy = ConfigObject<"RequestAuthentication">;

function policy(name: string, namespace: string, issuers: readonly string[], more: object = {}): Policy {
  const jwtRules = issuers.map((issuer) => ({ issuer, jwksUri: `https://${issuer}.example/keys` }));
  const spec = { ...more, jwtRules };
  const tree = {
    apiVersion: "security.mesh.io/v1",
    kind: "RequestAuthentication",
    metadata: { name, namespace },
    spec,
  };
  const { object, findings } = parseObject(tree, inFile("test"), { defaultNamespace: "default" });
  assert.ok(object, JSON.stringify(findings));
  return object as Policy;
}

function index(...policies: readonly Policy[]): RequestAuthenticationIndex {
  const made = new RequestAuthenticationIndex(ROOT);
  made.update([], policies);
  return made;
}

const app = (name: string) => ({ selector: { matchLabels: { app: name } } });
const cart = { namespace: "shop", labels: { app: "cart" } };
const issuers = (made: RequestAuthenticationIndex, workload = cart) => made.of(workload).rules.map((one) => one.issuer);

Deno.test("a workload has the rules of all objects that are for it, sorted by issuer", () => {
  const made = index(
    policy("mesh", ROOT, ["c"]),
    policy("labels", ROOT, ["f"], app("cart")),
    policy("namespace", "shop", ["b", "d"]),
    policy("own", "shop", ["a"], app("cart")),
    policy("other", "shop", ["x"], app("till")),
    policy("elsewhere", "bank", ["y"]),
    policy("empty", "shop", []),
  );
  assert.deepEqual(issuers(made), ["a", "b", "c", "d", "f"]);
  assert.deepEqual([...made.of(cart).causes].sort(), [
    "RequestAuthentication/mesh-system/labels",
    "RequestAuthentication/mesh-system/mesh",
    "RequestAuthentication/shop/namespace",
    "RequestAuthentication/shop/own",
  ]);
  assert.deepEqual(issuers(made, { namespace: "elsewhere", labels: { app: "x" } }), ["c"]);
});

Deno.test("without rules all workloads share one empty policy", () => {
  assert.equal(index().of(cart), NO_TOKEN_POLICY);
  assert.equal(index(policy("empty", "shop", [])).of(cart), NO_TOKEN_POLICY);
});

Deno.test("a policy that names a Gateway of the Gateway API is for the workload that runs it", () => {
  const targetRefs = [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "door" }];
  const made = index(policy("one", "shop", ["a"], { targetRefs }));
  const labels = { "gateway.networking.k8s.io/gateway-name": "door" };
  assert.deepEqual(made.of({ namespace: "shop", labels }).rules.map((one) => one.issuer), ["a"]);
  assert.equal(made.of(cart), NO_TOKEN_POLICY);
});

Deno.test("keys in a rule lose their private parts, and a single key becomes a set", () => {
  const jwks = JSON.stringify({ kty: "oct", k: "AAEC", alg: "HS256", kid: "a", use: "sig", extra: { deep: [1] } });
  const tree = {
    ...{ apiVersion: "security.mesh.io/v1", kind: "RequestAuthentication", metadata: { name: "a", namespace: "shop" } },
    spec: { jwtRules: [{ issuer: "a", jwks }] },
  };
  const { object } = parseObject(tree, inFile("test"), { defaultNamespace: "default" });
  const [rule] = index(object as Policy).of(cart).rules;
  assert.equal(rule?.jwks, '{"keys":[{"alg":"HS256","k":"AAEC","kid":"a","kty":"oct"}]}');
});

Deno.test("after any changes an index answers like a fresh index of the remaining objects, and equal answers are one object", () => {
  const names = ["a", "b", "c"];
  const door = { "gateway.networking.k8s.io/gateway-name": "door" };
  const anyPolicy = fc.record({
    name: fc.constantFrom(...names),
    namespace: fc.constantFrom(ROOT, "shop", "bank"),
    issuers: fc.subarray(["i", "j", "k"]),
    of: fc.constantFrom({}, app("cart"), app("till"), {
      targetRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "door" }],
    }),
  });
  const steps = fc.array(
    fc.array(fc.record({ policy: anyPolicy, put: fc.boolean() }), { minLength: 1, maxLength: 3 }),
    {
      maxLength: 20,
    },
  );
  fc.assert(fc.property(steps, (list) => {
    const made = index();
    const there = new Map<string, Policy>();
    for (const batch of list) {
      const last = new Map(batch.map(({ policy: { name, namespace, issuers, of }, put }) => {
        const object = policy(name, namespace, issuers, of);
        return [object.key, put ? object : undefined];
      }));
      const removed = [...last.keys()].flatMap((key) => there.get(key) ?? []);
      const added = [...last.values()].filter((one) => one !== undefined);
      made.update(removed, added);
      for (const { key } of removed) there.delete(key);
      for (const one of added) there.set(one.key, one);
      const fresh = index(...[...there.values()].reverse());
      for (const namespace of [ROOT, "shop", "bank"]) {
        for (const own of [{ app: "cart" }, { app: "till" }, { app: "other" }, { app: "cart", ...door }]) {
          const workload = { namespace, labels: own };
          assert.deepEqual(made.of(workload), fresh.of(workload));
          assert.equal(made.of(workload), made.of({ namespace, labels: { ...workload.labels, more: "x" } }));
        }
      }
    }
  }));
});
