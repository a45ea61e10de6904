/** The suite for sources of pods, for every implementation. */
import assert from "node:assert/strict";
import { type PodEvent, type PodLookup, type PodSource, PodSourceError } from "../../../lib/cni/pods/source.ts";
import { type ApiObject, injectedPod } from "../support/orch.ts";

/** An orchestrator under the control of a test. */
export interface Orchestrator {
  source(): PodSource;
  put(pod: ApiObject): Promise<ApiObject>;
  drop(namespace: string, name: string): Promise<void>;
  namespace(name: string, labels: Record<string, string>): Promise<void>;
  daemonSet(namespace: string, name: string, set: ApiObject | undefined): Promise<void>;
  get(namespace: string, name: string): Promise<ApiObject | undefined>;
  notes(): Promise<string[]>;
  /** Ends the connections of watches. */
  interrupt(): Promise<void>;
  /** Answers everything by a status until the next call. */
  refuse(status: number | undefined): void;
  stop(): Promise<void>;
}

function test(name: string, make: () => Orchestrator, work: (o: Orchestrator) => Promise<void>): void {
  Deno.test(name, async () => {
    const orchestrator = make();
    try {
      await work(orchestrator);
    } finally {
      await orchestrator.stop();
    }
  });
}

/** The duties of a look-up of a pod. */
export function lookupSuite(what: string, make: () => Orchestrator, of: (o: Orchestrator) => PodLookup): void {
  test(
    `${what}: a pod is found with what the plugin reads of it, one that is not there is undefined`,
    make,
    async (o) => {
      const env = [{ name: "A", value: "1" }, { name: "B", valueFrom: {} }];
      await o.put(
        injectedPod("shop", "cart-0", { proxy: { env, securityContext: { runAsUser: 7 } }, spec: { nodeName: "n1" } }),
      );
      const pod = await of(o).pod("shop", "cart-0");
      assert.deepEqual([pod?.namespace, pod?.name, pod?.hostNetwork, pod?.nodeName], ["shop", "cart-0", false, "n1"]);
      assert.match(pod?.uid ?? "", /.+/);
      const proxy = pod?.containers.find((c) => c.name === "mesh-proxy");
      assert.deepEqual([proxy?.args, proxy?.runAsUser, { ...proxy?.env }], [["proxy", "sidecar"], 7, {
        A: "1",
        B: "",
      }]);
      assert.equal(await of(o).pod("shop", "other"), undefined);
    },
  );

  test(`${what}: names are data, not paths`, make, async (o) => {
    assert.equal(await of(o).pod("shop", "../../secrets/x"), undefined);
  });

  test(`${what}: labels of a namespace`, make, async (o) => {
    await o.namespace("shop", { "mesh.io/dataplane-mode": "ambient" });
    assert.equal((await of(o).namespaceLabels("shop"))?.["mesh.io/dataplane-mode"], "ambient");
    assert.equal(await of(o).namespaceLabels("none"), undefined);
  });

  test(`${what}: refusals are errors that say whether asking again may help`, make, async (o) => {
    for (const [status, transient] of [[401, true], [403, false], [429, true], [500, true], [503, true]] as const) {
      o.refuse(status);
      await assert.rejects(
        of(o).pod("a", "b"),
        (e) => e instanceof PodSourceError && e.status === status && e.transient === transient,
      );
    }
    await o.stop();
    await assert.rejects(
      of(o).pod("a", "b"),
      (e) => e instanceof PodSourceError && e.status === undefined && e.transient,
    );
    o.refuse(undefined);
  });
}

/** Reads events in order. */
function reader(source: PodSource, filter = { labelSelector: "", fieldSelector: "" }) {
  const stop = new AbortController();
  const events = source.watch(filter, stop.signal)[Symbol.asyncIterator]();
  const show = (event: PodEvent) =>
    event.type === "pod" ? `${event.pod.name} ${event.pod.labels["v"] ?? ""}`.trim() : `gone ${event.name}`;
  return {
    async next(): Promise<string> {
      const { value, done } = await events.next();
      return done ? "end" : show(value);
    },
    async end(): Promise<void> {
      const last = events.next();
      stop.abort(new Error("test ends"));
      assert.equal((await last).done, true);
    },
  };
}

/** Further duties, for repair and the installer. */
export function sourceSuite(what: string, make: () => Orchestrator): void {
  const pod = (name: string, v: string, more: ApiObject = {}) => injectedPod("shop", name, { labels: { v }, ...more });

  test(`${what}: a watch reports every pod once, then changes and ends`, make, async (o) => {
    await o.put(pod("a", "1"));
    const watch = reader(o.source());
    assert.equal(await watch.next(), "a 1");
    const coming = watch.next();
    await o.put(pod("b", "1"));
    assert.equal(await coming, "b 1");
    await o.put(pod("a", "2"));
    assert.equal(await watch.next(), "a 2");
    await o.drop("shop", "b");
    assert.equal(await watch.next(), "gone b");
    await watch.end();
  });

  test(`${what}: selectors hold, for the first list and for changes`, make, async (o) => {
    await o.put(pod("here", "1", { spec: { nodeName: "n1" } }));
    await o.put(pod("there", "1", { spec: { nodeName: "n2" } }));
    const watch = reader(o.source(), { labelSelector: "", fieldSelector: "spec.nodeName=n1" });
    assert.equal(await watch.next(), "here 1");
    const coming = watch.next();
    await o.put(pod("there", "2", { spec: { nodeName: "n2" } }));
    await o.put(pod("here", "2", { spec: { nodeName: "n1" } }));
    assert.equal(await coming, "here 2");
    await watch.end();
  });

  test(`${what}: a watch that is cut off goes on, and misses nothing that happened meanwhile`, make, async (o) => {
    await o.put(pod("a", "1"));
    await o.put(pod("b", "1"));
    const watch = reader(o.source());
    assert.deepEqual([await watch.next(), await watch.next()], ["a 1", "b 1"]);
    const coming = watch.next();
    await o.interrupt();
    await o.drop("shop", "b");
    await o.put(pod("a", "2"));
    const seen = [await coming];
    while (!seen.includes("a 2") || !seen.includes("gone b")) seen.push(await watch.next());
    await watch.end();
  });

  test(
    `${what}: a label is added and the others stay; a pod of the same name but another uid is not touched`,
    make,
    async (o) => {
      await o.put(pod("a", "1"));
      const found = await o.source().pod("shop", "a");
      assert(found);
      await o.source().label(found, "cni.mesh.io/uninitialized", "true");
      assert.deepEqual((await o.get("shop", "a")).metadata.labels, { v: "1", "cni.mesh.io/uninitialized": "true" });
      await o.drop("shop", "a");
      await o.put(pod("a", "new"));
      await assert.rejects(o.source().label(found, "x", "y"), (e) => e instanceof PodSourceError && e.status === 409);
      assert.deepEqual((await o.get("shop", "a")).metadata.labels, { v: "new" });
    },
  );

  test(`${what}: a pod is deleted only as it was seen`, make, async (o) => {
    await o.put(pod("a", "1"));
    const seen = await o.source().pod("shop", "a");
    assert(seen);
    await o.put({ ...await o.get("shop", "a") });
    await assert.rejects(o.source().remove(seen), (e) => e instanceof PodSourceError && e.status === 409);
    const now = await o.source().pod("shop", "a");
    assert(now);
    await o.source().remove(now);
    assert.equal(await o.get("shop", "a"), undefined);
  });

  test(`${what}: a note reaches people`, make, async (o) => {
    await o.put(pod("a", "1"));
    const found = await o.source().pod("shop", "a");
    assert(found);
    await o.source().note(found, { reason: "DeleteBrokenPod", message: "pod detected as broken, deleted" });
    assert.deepEqual(await o.notes(), ["a: DeleteBrokenPod: pod detected as broken, deleted"]);
  });

  test(`${what}: a set stays until it is gone, going, or another one of that name`, make, async (o) => {
    const stays = () => o.source().setStays("shop", "agent-abcde");
    await assert.rejects(stays(), (e) => e instanceof PodSourceError && e.status === 404);
    const owner = { kind: "DaemonSet", name: "agent", uid: "u1" };
    const own = pod("agent-abcde", "1");
    await o.put({ ...own, metadata: { ...own.metadata, ownerReferences: [owner] } });
    assert.equal(await stays(), false, "the set is gone");
    await o.daemonSet("shop", "agent", { metadata: { uid: "u1" } });
    assert.equal(await stays(), true);
    await o.daemonSet("shop", "agent", { metadata: { uid: "u1", deletionTimestamp: "2026-01-01T00:00:00Z" } });
    assert.equal(await stays(), false, "the set is going");
    await o.daemonSet("shop", "agent", { metadata: { uid: "u2" } });
    assert.equal(await stays(), false, "another set");
  });
}
