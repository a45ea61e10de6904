/**
 * Pods of the node plugin are found by their node: any order of events gives the same answer as a walk over all pods.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { type PluginPod, PluginPods, readPluginPod } from "../../lib/discovery/duties/plugin_pods.ts";
import { type CacheEvent, ObjectCache } from "../../lib/orch/informer/cache.ts";

const NODES = ["a", "b", "c"];

const pod = fc.record<PluginPod>({
  node: fc.constantFrom("", ...NODES),
  ready: fc.boolean(),
  leaving: fc.boolean(),
  madeAt: fc.constantFrom(0, 1000, 2000),
  readySince: fc.constantFrom(0, 1000, 2000),
});

const event = fc.record({
  type: fc.constantFrom("put" as const, "gone" as const),
  name: fc.constantFrom("p", "q", "r"),
  uid: fc.constantFrom("1", "2"),
  pod,
});

Deno.test("after any events a node's readiness depends only on the present pods", () => {
  fc.assert(fc.property(fc.array(fc.array(event, { maxLength: 4 }), { maxLength: 12 }), (batches) => {
    const [cache, pods] = [new ObjectCache<PluginPod>(), new PluginPods()];
    let version = 0;
    for (const batch of batches) {
      const events = batch.map(({ type, name, uid, pod }): CacheEvent<PluginPod> => ({
        type,
        object: { namespace: "mesh-system", name, uid, version: `${++version}`, value: pod },
      }));
      pods.take(cache.apply(events));
    }
    for (const node of NODES) {
      const counted = [...cache.values()].map(({ value }) => value)
        .filter((one) => one.node === node && one.ready && !one.leaving);
      const since = counted.some((one) => Math.max(one.madeAt, one.readySince) >= 1000);
      const expected = since ? "ready" : counted.length > 0 ? "of an earlier node" : "not ready";
      assert.equal(pods.readiness(node, 1000), expected);
    }
  }));
});

Deno.test("a pod without conditions from the API is not ready, and has no times", () => {
  for (const broken of [{}, null, { spec: { nodeName: 7 } }, { status: { conditions: [{ type: "Ready" }] } }]) {
    assert.deepEqual(readPluginPod(broken), { node: "", ready: false, leaving: false, madeAt: 0, readySince: 0 });
  }
});
