/** Which rollouts run: a namespace holds up the rollouts of no other namespace. */
import assert from "node:assert/strict";
import { parseObject } from "../../lib/config/object.ts";
import type { AnyConfigObject } from "../../lib/config/types.ts";
import { MAX_OF_NAMESPACE, MAX_ROLLOUTS } from "../../lib/rollout/line.ts";
import { StagedObjects } from "../../lib/rollout/staged_objects.ts";
import { inFile } from "../config/origins.ts";

const PROXIES = new Set(["p0", "p1", "p2", "p3"]);
const NOBODY = new Set<string>();

function object(kind: string, namespace: string, name: string, spec: object): AnyConfigObject {
  const metadata = { name, namespace, annotations: { "mesh.io/rollout": "25%:720h,100%" } };
  const tree = { apiVersion: "networking.mesh.io/v1", kind, metadata, spec };
  const { object, findings } = parseObject(tree, inFile("test"), { defaultNamespace: "x" });
  assert.ok(object, JSON.stringify(findings));
  return object as AnyConfigObject;
}

const HOST = "cart.shop.svc.cluster.local";
const route = (namespace: string, name: string, subset = "v1") =>
  object("VirtualService", namespace, name, {
    hosts: [HOST],
    http: [{ route: [{ destination: { host: HOST, subset } }] }],
  });
const rule = (namespace: string, name: string, ...subsets: string[]) =>
  object("DestinationRule", namespace, name, {
    host: HOST,
    subsets: subsets.map((subset) => ({ name: subset, labels: { version: subset } })),
  });

const several = (count: number, namespace: string) =>
  Array.from({ length: count }, (_, at) => route(namespace, `r${at}`));

function edited(before: readonly AnyConfigObject[], ...after: readonly AnyConfigObject[][]): StagedObjects {
  const staged = new StagedObjects({ now: () => 0, soakMs: 0, domain: "cluster.local", rootNamespace: "root" });
  staged.settledChange({ removed: [], added: before });
  staged.seal();
  for (const added of after) staged.settledChange({ removed: [], added });
  return staged;
}

/** The namespaces of the rollouts that run. */
const running = (staged: StagedObjects) =>
  staged.rollouts().filter(({ waits }) => waits === "").map(({ object }) => object.meta.namespace);

/** A look at all rollouts that run. @returns the objects whose rollouts were looked at */
function look(staged: StagedObjects, concerned: (key: string) => ReadonlySet<string> = () => PROXIES): string[] {
  const keys = staged.rollouts().filter(({ waits }) => waits === "").map(({ key }) => key);
  for (const key of keys) staged.choose(key, concerned(key));
  return keys;
}

Deno.test("beyond a number of rollouts further rollouts wait for their turn", () => {
  const all = ["a", "b", "c", "d", "e"].map((namespace) => route(namespace, "one"));
  const staged = edited([], all);
  assert.deepEqual(running(staged), ["a", "b", "c", "d"]);
  assert.equal(all.length, MAX_ROLLOUTS + 1);
  staged.settledChange({ removed: [all[0]!], added: [] });
  assert.deepEqual(running(staged), ["b", "c", "d", "e"]);
});

Deno.test("a namespace with hundreds of rollouts has a part of them at a time, and others run beside it", () => {
  const staged = edited([], several(200, "crowd"));
  look(staged);
  assert.deepEqual(running(staged), Array(MAX_OF_NAMESPACE).fill("crowd"));
  const reasons = new Set(staged.rollouts().map(({ waits }) => waits));
  assert.deepEqual([...reasons], ["", "it waits for the end of other rollouts of its namespace"]);
  staged.settledChange({ removed: [], added: [route("shop", "cart")] });
  assert.ok(running(staged).includes("shop"));
  assert.equal(staged.line.indexOf("VirtualService/shop/cart"), MAX_OF_NAMESPACE, "the next one in line");
});

Deno.test("a rollout that runs is not set back by a rollout that is older and becomes able to run", () => {
  const staged = edited([rule("shop", "cart", "v1")], [rule("shop", "cart", "v1", "v2"), route("shop", "cart", "v2")], [
    route("a", "one"),
    route("b", "one"),
    route("c", "one"),
  ]);
  look(staged);
  assert.deepEqual(running(staged), ["shop", "a", "b", "c"]);
  staged.settledChange({ removed: [], added: [rule("shop", "cart", "v1")] });
  assert.deepEqual(running(staged).sort(), ["a", "b", "c", "shop"]);
  assert.deepEqual(look(staged).filter((key) => key.includes("/shop/")), ["VirtualService/shop/cart"]);
});

Deno.test("rollouts that concern no proxy hold up nobody, and each of them is looked at in turn", () => {
  const staged = edited([], several(3, "a"), several(3, "b"), several(3, "c"));
  const looked = new Set<string>();
  for (let looks = 0; looks < 9; looks++) for (const key of look(staged, () => NOBODY)) looked.add(key);
  assert.equal(looked.size, 9);
  staged.settledChange({ removed: [], added: [route("shop", "cart")] });
  assert.ok(running(staged).includes("shop"));
  const concerns = (key: string) => key === "VirtualService/b/r1" ? PROXIES : NOBODY;
  for (let looks = 0; looks < 9; looks++) look(staged, concerns);
  assert.ok(staged.rollout("VirtualService/b/r1")!.limit >= 0, "the rollout goes on when it concerns proxies");
  look(staged, concerns);
  assert.equal(running(staged)[0], "b", "and stays in the first place");
});

Deno.test("nobody waits for rollouts of a namespace that is neither the own nor that of the host nor the root", () => {
  const waiting = (...[before, after]: AnyConfigObject[][]) =>
    edited(before!, after!).rollouts().flatMap(({ key, waits }) => waits === "" ? [] : [key]);
  for (const [namespace, waits] of [["shop", true], ["root", true], ["mallory", false]] as const) {
    const brings = waiting([route("shop", "cart")], [route("shop", "cart", "v2"), rule(namespace, "x", "v2")]);
    assert.deepEqual(brings, waits ? ["VirtualService/shop/cart"] : [], `a rule in ${namespace}`);
    const leaves = waiting([rule("shop", "cart", "v1", "v2"), route(namespace, "x")], [
      rule("shop", "cart", "v2"),
      route(namespace, "x", "v3"),
    ]);
    assert.deepEqual(leaves, waits ? ["DestinationRule/shop/cart"] : [], `a route in ${namespace}`);
  }
  const own = waiting([], [route("mallory", "x", "v2"), rule("mallory", "x", "v2")]);
  assert.deepEqual(own, ["VirtualService/mallory/x"]);
});

Deno.test("thousands of rollouts of one namespace cost a look little", () => {
  const subsets = Array.from({ length: 20 }, (_, at) => `s${at}`);
  const both = Array.from({ length: 1000 }, (_, at) => [rule("crowd", `d${at}`, ...subsets), route("crowd", `r${at}`)]);
  const staged = edited([], both.flat());
  for (let looks = 0; looks < 20; looks++) look(staged);
  assert.equal(staged.rollouts().length, 2000);
});
