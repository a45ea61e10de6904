/** The effect of a change on proxies: changed resources, the responsible object, and the fate of connections. */
import assert from "node:assert/strict";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { compareVersions } from "../../lib/offline/diff/compare.ts";
import { connectionsEnded } from "../../lib/offline/diff/connections.ts";
import { type BlastRadius, isSame } from "../../lib/offline/diff/diff.ts";
import { differencesOf } from "../../lib/offline/diff/json_diff.ts";
import { LISTENER } from "../../lib/xds/protocol/types.ts";
import { example, meshOf, readsOf } from "./mesh_of.ts";

const shop = example("shop");

type Files = Record<string, string>;

function diff(old: Files, now: Files, nodes: readonly string[] = []): BlastRadius {
  const mesh = meshOf(old, { vhds: true });
  const gone = Object.keys(old).filter((path) => !(path in now)).map((path) => ({ path, bytes: undefined }));
  return unpaced(compareVersions(mesh, () => mesh.index.applySteps([...readsOf(now), ...gone]), {
    nodes,
    textOf: { old: (file) => old[file], now: (file) => now[file] },
  }));
}

function edited(name: string, from: string | RegExp, to: string): Files {
  const text = shop[`${name}.yaml`]!.replace(from, to);
  assert.notEqual(text, shop[`${name}.yaml`], "the edit changes nothing");
  return { ...shop, [`${name}.yaml`]: text };
}

/** Groups in short. */
function shown({ groups }: BlastRadius): string[] {
  return groups.map(({ proxies, resources, ended }) =>
    `${proxies.join(" ")}: ${resources.map(({ change, type, name }) => `${change} ${type} ${name}`).join(", ")}` +
    (ended.length > 0 ? `; ends ${ended.map(({ of, name, which }) => `${of} ${name} (${which})`).join(", ")}` : "")
  );
}

Deno.test("nothing differs between a version and itself, in whatever files it lies", () => {
  assert.ok(isSame(diff(shop, shop)));
  const oneFile = { "all.yaml": Object.values(shop).join("\n---\n") };
  const radius = diff(shop, oneFile);
  assert.deepEqual([radius.proxies.changed, radius.groups], [0, []]);
  assert.ok(isSame(radius));
});

Deno.test("a changed weight changes one virtual host for the proxies that see it; its object is named, and connections are kept", () => {
  const sidecar = `apiVersion: networking.mesh.io/v1
kind: Sidecar
metadata: { name: alone, namespace: shop }
spec: { workloadSelector: { labels: { app: reviews } }, egress: [{ hosts: ["~/*"] }] }`;
  const old = { ...shop, "sidecar.yaml": sidecar };
  const radius = diff(old, { ...edited("routes", "weight: 90", "weight: 50"), "sidecar.yaml": sidecar });
  assert.deepEqual(shown(radius), ["shop/cart: changed vhds 80/reviews.shop.svc.cluster.local:80"]);
  assert.deepEqual([radius.proxies.compared, radius.proxies.changed], [3, 1]);
  const [resource] = radius.groups[0]!.resources;
  assert.deepEqual(resource!.objects, ["VirtualService/shop/reviews"]);
  assert.deepEqual(resource!.differences, [
    { path: "routes[1].route.weighted_clusters", before: "v1 90, v2 10", after: "v1 50, v2 10" },
  ]);
  assert.ok(resource!.bytes > 100);
});

Deno.test("an endpoint is sent as an endpoint, and its own workload gets an inbound listener", () => {
  const radius = diff(shop, edited("services", "labels: { app: cart }", "labels: { app: reviews, version: v2 }"));
  const [others, own] = radius.groups;
  assert.deepEqual(others!.proxies, ["shop/reviews-v1", "shop/reviews-v2"]);
  assert.ok(others!.resources.every(({ type }) => type === "eds"));
  assert.deepEqual([others!.ended, others!.resources[0]!.objects], [[], ["WorkloadEntry/shop/cart"]]);
  assert.deepEqual(own!.proxies, ["shop/cart"]);
  assert.ok(own!.resources.some(({ type, name }) => type === "lds" && name === "virtualInbound"));
});

Deno.test("another definition of a cluster replaces its connections; a subset that is gone is a new finding", () => {
  const to = "trafficPolicy: { connectionPool: { tcp: { maxConnections: 7 } } }\n  subsets:";
  const pool = diff(shop, edited("versions", "subsets:", to), ["shop/cart"]);
  assert.deepEqual(pool.groups[0]!.ended.map(({ of }) => of), ["cluster", "cluster", "cluster"]);
  const gone = diff(shop, edited("versions", /\n +- name: v2[^]*$/, "\n"));
  assert.deepEqual(gone.findings.appeared.map(({ name, value }) => [name, value]), [
    ["unknown-subset", '"v2"'],
    ["unknown-subset", '"v2"'],
  ]);
  const back = diff(edited("versions", /\n +- name: v2[^]*$/, "\n"), shop);
  assert.equal(back.findings.resolved.length, 2);
});

Deno.test("a listener that moves to another port ends the connections of the old one", () => {
  const old = example("first-steps/mesh");
  const now = { ...old, "gateway.yaml": old["gateway.yaml"]!.replace("8088", "8089") };
  const radius = diff(old, now);
  assert.deepEqual(radius.groups.map(({ proxies }) => proxies), [["demo/door"]]);
  assert.deepEqual(radius.groups[0]!.ended, [{ of: "listener", name: "0.0.0.0_8088", which: "all" }]);
});

Deno.test("added and removed workloads are named, and not compared", () => {
  const now = edited("services", /---\n(?=[^]*name: cart)(?![^]*---[^]*name: cart)[^]*$/, "");
  const radius = diff(shop, now);
  assert.deepEqual([radius.proxies.gone, radius.proxies.compared], [["shop/cart"], 2]);
  assert.deepEqual(diff(now, shop).proxies.added, ["shop/cart"]);
});

Deno.test("what is refused in the new version stays as it was, as in a server", () => {
  const radius = diff(shop, edited("routes", "weight: 90", "weight: many"));
  assert.deepEqual([radius.proxies.changed, radius.findings.appeared.map(({ name }) => name)], [0, ["wrong-value"]]);
});

Deno.test("lists are compared by names if items have names, otherwise by position; a change of order is reported", () => {
  const routes = (...names: string[]) => ({ routes: names.map((name) => ({ name, timeout: "1s" })) });
  assert.deepEqual(differencesOf(routes("a", "b"), routes("b", "a")), [
    { path: "routes (order)", before: ['"a"', '"b"'], after: ['"b"', '"a"'] },
  ]);
  assert.deepEqual(differencesOf({ list: [1, 2] }, { list: [1, 3, 4] }), [
    { path: "list[1]", before: 2, after: 3 },
    { path: "list[2]", after: 4 },
  ]);
  assert.deepEqual(differencesOf({ a: { b: 1 } }, { a: {} }), [{ path: "a.b", before: 1 }]);
});

Deno.test("a listener drains the chains that differ; all of its connections when anything else differs", () => {
  const ended = (...paths: string[]) =>
    connectionsEnded({
      ...{ typeUrl: LISTENER, name: "l", isNew: false, isGone: false },
      differences: paths.map((path) => ({ path })),
    })?.which;
  assert.equal(ended('filter_chains["a"].filters[0]', 'filter_chains["b"]'), "of filter chain a, b");
  assert.equal(ended("default_filter_chain.name"), "of filter chain default");
  assert.equal(ended('filter_chains["a"].name', "listener_filters"), "all");
});
