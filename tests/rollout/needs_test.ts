/** No proxy gets a route without its subset. */
import assert from "node:assert/strict";
import { parseObject } from "../../lib/config/object.ts";
import type { AnyConfigObject } from "../../lib/config/types.ts";
import type { StageFacts } from "../../lib/rollout/machine.ts";
import { StagedObjects } from "../../lib/rollout/staged_objects.ts";
import { inFile } from "../config/origins.ts";

const PROXIES = new Set(["p0", "p1", "p2", "p3"]);
const LIVE: StageFacts = { total: 4, chosen: 1, live: 1, failing: 0, refused: 0, words: [], errors: "" };

function object(kind: string, spec: object): AnyConfigObject {
  const metadata = { name: "cart", namespace: "shop", annotations: { "mesh.io/rollout": "25%:0s,100%:0s" } };
  const tree = { apiVersion: "networking.mesh.io/v1", kind, metadata, spec };
  const { object, findings } = parseObject(tree, inFile("test"), { defaultNamespace: "x" });
  assert.ok(object, JSON.stringify(findings));
  return object as AnyConfigObject;
}

const rule = (host: string, ...names: string[]) =>
  object("DestinationRule", { host, subsets: names.map((name) => ({ name, labels: { version: name } })) });

const route = (host: string, subset: string) =>
  object("VirtualService", { hosts: ["cart"], http: [{ route: [{ destination: { host, subset } }] }] });

/** A world in which one version of each object is settled and another has come. */
function edited(
  before: readonly AnyConfigObject[],
  after: readonly AnyConfigObject[],
  domain = "cluster.local",
): StagedObjects {
  const staged = new StagedObjects({ now: () => 0, soakMs: 0, domain });
  staged.settledChange({ removed: [], added: before });
  staged.seal();
  staged.settledChange({ removed: before, added: after });
  return staged;
}

const waiting = (staged: StagedObjects) =>
  staged.rollouts().filter(({ waits }) => waits !== "").map(({ key, waits }) => [key.split("/")[0], waits]);

const FOR_RULE = ["VirtualService", "it waits for the rollout of DestinationRule/shop/cart"];
const FOR_ROUTE = ["DestinationRule", "it waits for the rollout of VirtualService/shop/cart"];

Deno.test("a route waits for a rule that brings its subset; a rule waits for a route that leaves its subset", () => {
  const cases: [string, AnyConfigObject[], AnyConfigObject[], unknown[]][] = [
    ["a new subset", [rule("cart", "v1"), route("cart", "v1")], [rule("cart", "v1", "v2"), route("cart", "v2")], [
      FOR_RULE,
    ]],
    ["the same host by another name", [rule("cart", "v1"), route("cart", "v1")], [
      rule("cart.shop.svc.cluster.local", "v1", "v2"),
      route("Cart", "v2"),
    ], [FOR_RULE]],
    ["a host of another domain", [rule("cart", "v1"), route("cart", "v1")], [
      rule("cart.shop.svc.other.example", "v1", "v2"),
      route("cart", "v2"),
    ], [FOR_ROUTE]],
    ["a host of two labels", [rule("cart", "v1"), route("cart.shop", "v1")], [
      rule("cart", "v1", "v2"),
      route("cart.shop", "v2"),
    ], []],
    ["a subset goes", [rule("cart", "v1", "v2"), route("cart", "v2")], [rule("cart", "v1"), route("cart", "v1")], [
      FOR_ROUTE,
    ]],
    ["a subset for another", [rule("cart", "v1"), route("cart", "v1")], [rule("cart", "v2"), route("cart", "v2")], [
      FOR_RULE,
    ]],
    ["another host", [rule("cart", "v1"), route("cart", "v1")], [rule("other", "v1", "v2"), route("cart", "v2")], [
      FOR_ROUTE,
    ]],
    ["a subset that was there", [rule("cart", "v1", "v2"), route("cart", "v1")], [
      rule("cart", "v1", "v2", "v3"),
      route("cart", "v2"),
    ], []],
  ];
  for (const [what, before, after, expected] of cases) assert.deepEqual(waiting(edited(before, after)), expected, what);
});

Deno.test("the domain of the mesh completes the hosts of rollouts that wait", () => {
  const full = "cart.shop.svc.mesh.example";
  const before = [rule("cart", "v1"), route("cart", "v1")];
  const after = [rule(full, "v1", "v2"), route("cart", "v2")];
  assert.deepEqual(waiting(edited(before, after, "mesh.example")), [FOR_RULE]);
  assert.deepEqual(waiting(edited(before, after, "cluster.local")), [FOR_ROUTE], "the rule is about another host");
});

Deno.test("a waiting rollout goes on when the other has reached all proxies, and stands still while it is taken back", () => {
  const run = (refused: number) => {
    const staged = edited([rule("cart", "v1"), route("cart", "v1")], [rule("cart", "v1", "v2"), route("cart", "v2")]);
    const KEY = "DestinationRule/shop/cart";
    for (let i = 0; i < 8; i++) {
      staged.choose(KEY, PROXIES);
      staged.step(KEY, { ...LIVE, refused });
      staged.settledChange({ removed: [], added: [] });
    }
    return staged;
  };
  assert.deepEqual(run(0).rollouts().map(({ key, waits }) => [key.split("/")[0], waits]), [["VirtualService", ""]]);
  assert.deepEqual(waiting(run(1)), [FOR_RULE]);
});
