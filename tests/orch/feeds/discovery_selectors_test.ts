/** Namespaces chosen by `discoverySelectors`, and configuration of other revisions. */
import assert from "node:assert/strict";
import type { DiscoveryServer } from "../../../lib/discovery/server.ts";
import { page } from "../../discovery/running.ts";
import { meshDraft, namespaceDraft, serviceDraft, sliceDraft } from "../support/drafts.ts";
import { type ObjectFeed, twoFeeds } from "../support/feeds.ts";
import { until } from "../../patience.ts";

const test = twoFeeds();

/** A namespace with a service, its endpoint, a rule and a secret. */
async function fill(feed: ObjectFeed, namespace: string, address: string, labels = {}): Promise<void> {
  await feed.put(namespaceDraft(namespace, labels));
  await feed.put(serviceDraft(namespace, "cart"));
  await feed.put(sliceDraft(namespace, "cart", [address]));
  await feed.put(meshDraft("DestinationRule", namespace, "cart", { host: "cart" }));
  const metadata = { namespace, name: "key" };
  await feed.put({ apiVersion: "v1", kind: "Secret", metadata, data: { cacert: btoa("PEM") }, type: "Opaque" });
}

/** How many hosts, endpoints and objects of a namespace a server knows. */
function seen({ pipeline, store, configuration }: DiscoveryServer, namespace: string): readonly number[] {
  const hosts = [...pipeline.aggregate.keys()].filter((key) => key.startsWith(`${namespace}/`));
  const endpoints = pipeline.endpoints.endpoints(`${namespace}/cart.${namespace}.svc.cluster.local`);
  return [
    hosts.length,
    endpoints.length,
    store.list("DestinationRule", namespace).length,
    configuration.facts.get("Secret", namespace, "key") === undefined ? 0 : 1,
  ];
}

const ALL = [1, 1, 1, 1];
const NOTHING = [0, 0, 0, 0];

test("objects of namespaces chosen by discoverySelectors are added and removed with labels and selectors, without changes of others", async (feed) => {
  const [a, b, c] = ["a", "b", "c"].map((one) => `${feed.name}-${one}`) as [string, string, string];
  await fill(feed, a, "10.9.1.1", { "mesh-discovery": "yes" });
  await fill(feed, b, "10.9.1.2");
  await fill(feed, c, "10.9.1.3", { stage: "test" });
  const chosen = [
    { matchLabels: { "mesh-discovery": "yes" } },
    { matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: [c] }] },
  ];
  await feed.meshConfig({ discoverySelectors: chosen });
  await feed.serve(async (server) => {
    const state = () => [a, b, c].map((one) => seen(server, one));
    const become = (what: string, expected: readonly (readonly number[])[]) =>
      until(what, () => JSON.stringify(state()) === JSON.stringify(expected));
    assert.deepEqual(state(), [ALL, NOTHING, ALL]);
    const live = await page(server.ports.http, `/debug/live?object=DestinationRule/${b}/cart`);
    assert.match(live.body, /discoverySelectors do not choose the object's namespace/);
    const touched = new Set<string>();
    for (const store of [server.store, server.configuration.facts]) {
      store.subscribe(({ added, updated, removed }) => {
        const objects = [...added, ...removed, ...updated.map((one) => one.new)];
        for (const { kind, meta: { namespace, name } } of objects) touched.add(kind === "Namespace" ? name : namespace);
      });
    }
    await feed.put(namespaceDraft(b, { "mesh-discovery": "yes" }));
    await become("the namespace that got the label", [ALL, ALL, ALL]);
    assert.deepEqual([...touched], [b], "no object of another namespace was touched");
    await feed.put(namespaceDraft(a, { "mesh-discovery": "no" }));
    await become("the namespace that lost it", [NOTHING, ALL, ALL]);
    assert.deepEqual([...touched], [b, a]);
    await feed.put(sliceDraft(a, "cart", ["10.9.1.1", "10.9.1.4"]));
    await feed.drop(meshDraft("DestinationRule", a, "cart", {}));
    await feed.meshConfig({ discoverySelectors: [] });
    await become("all of it as it is now, without selectors", [[1, 2, 0, 1], ALL, ALL]);
    await feed.meshConfig({ discoverySelectors: [{ matchLabels: { stage: "test" } }] });
    await become("another selector", [NOTHING, NOTHING, ALL]);
  });
});

test("configuration of another revision is passed over until its label names this revision; without a label it is for all revisions", async (feed) => {
  const { name } = feed;
  await feed.put(namespaceDraft(name));
  const rule = (object: string, labels = {}) => meshDraft("DestinationRule", name, object, { host: object }, labels);
  await feed.put(rule("all"));
  await feed.put(rule("ours", { "istio.io/rev": "canary" }));
  await feed.put(rule("theirs", { "mesh.io/rev": "stable" }));
  await feed.serve(async ({ store, ports }) => {
    const live = await page(ports.http, `/debug/live?object=DestinationRule/${name}/theirs`);
    assert.match(live.body, /the object's label mesh.io\/rev names another revision than canary/);
    const rules = () => store.list("DestinationRule", name).map(({ meta }) => meta.name).join();
    assert.equal(rules(), "all,ours");
    await feed.put(rule("theirs", { "mesh.io/rev": "canary" }));
    await until("the label of this revision", () => rules() === "all,ours,theirs");
    await feed.put(rule("ours", { "istio.io/rev": "stable" }));
    await until("the label of another one", () => rules() === "all,theirs");
  }, { REVISION: "canary" });
  await feed.serve(({ store }) => {
    const rules = store.list("DestinationRule", name).map(({ meta }) => meta.name).join();
    assert.equal(rules, "all,ours,theirs", "a server without a revision reads all");
    return Promise.resolve();
  });
});
