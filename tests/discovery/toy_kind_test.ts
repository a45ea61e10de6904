/** A kind is three files: an index with its query, a builder, and a row. Everything else follows. */
import assert from "node:assert/strict";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { cachedTypes } from "../../lib/translate/machine/cache/content.ts";
import type { ProxyState } from "../../lib/translate/machine/per_proxy/proxy_state.ts";
import { contents, Fixture, service, type TestNode } from "./fixture.ts";
import { TOY_TYPE } from "./toy_kind/builder.ts";
import { TOY_HOST, TOY_TEXT, ToyIndex } from "./toy_kind/index.ts";
import { withToys } from "./toy_kind/row.ts";

/** A toy of the host of a service. */
function toy(i: number, text: string): object {
  return {
    apiVersion: "networking.mesh.io/v1",
    kind: "WorkloadGroup",
    metadata: { name: `s${i}`, namespace: "x" },
    spec: {
      metadata: { annotations: { [TOY_HOST]: `s${i}.example.com`, [TOY_TEXT]: text } },
      template: { serviceAccount: "toy" },
    },
  };
}

const SIDECAR: TestNode = { namespace: "x", address: "10.9.0.1" };

function world() {
  const index = new ToyIndex();
  const fixture = new Fixture({ results: withToys(index), indexes: [index] });
  fixture.put(service(0), service(1), service(2), toy(0, "one"), toy(1, "other"));
  fixture.pipeline.flush();
  const { translator } = fixture.pipeline;
  const cacheOf = (kind: string) => translator.caches.all.find((one) => one.kind === kind)!.cache;
  const change = (...trees: object[]) => {
    const before = [cacheOf("toys"), cacheOf("clusters")].map(({ counts }) => counts.built);
    fixture.put(...trees);
    fixture.pipeline.flush();
    const after = [cacheOf("toys"), cacheOf("clusters")].map(({ counts }) => counts.built);
    return { toys: after[0]! - before[0]!, clusters: after[1]! - before[1]! };
  };
  return { fixture, translator, cacheOf, change };
}

function toysOf(state: ProxyState): Record<string, string> | undefined {
  const all = state.resourceSets(TOY_TYPE)?.flatMap((set) => [...set]);
  return all && Object.fromEntries(all.map(({ name, value }) => [name, new TextDecoder().decode(value)]));
}

Deno.test("a further kind is built for the proxies of its row, once for all of a class, and leaves other resources alone", () => {
  const { fixture, cacheOf } = world();
  const first = fixture.join(SIDECAR);
  assert.deepEqual(toysOf(first), { "s0.example.com": "one", "s1.example.com": "other" });
  const { built } = cacheOf("toys").counts;
  const second = fixture.join({ ...SIDECAR, address: "10.9.0.2" });
  assert.equal(cacheOf("toys").counts.built, built);
  assert.equal(second.resourceSets(TOY_TYPE)![0], first.resourceSets(TOY_TYPE)![0], "one set for both");
  assert.equal(toysOf(fixture.join({ ...SIDECAR, address: "10.9.0.3", type: "router" })), undefined, "a gateway");
  const plain = new Fixture();
  plain.put(service(0), service(1), service(2));
  plain.pipeline.flush();
  assert.deepEqual(contents(first), contents(plain.join(SIDECAR)));
});

Deno.test("a result of a further kind is built again when its own key changes, and only then", () => {
  const { fixture, change, translator } = world();
  const state = fixture.join(SIDECAR);
  const { misses } = translator.caches.stats();
  assert.deepEqual(change(toy(0, "two")), { toys: 1, clusters: 0 });
  assert.equal(translator.caches.stats().misses, misses + 1, "nothing else is built, and the statistics count it");
  assert.deepEqual(toysOf(state), { "s0.example.com": "two", "s1.example.com": "other" });
  assert.deepEqual(change(service(1, { port: { number: 81 } })), { toys: 0, clusters: 1 });
  fixture.remove("WorkloadGroup/x/s0");
  fixture.pipeline.flush();
  assert.deepEqual(toysOf(state), { "s1.example.com": "other" });
  translator.leave(state);
  translator.sweep();
  assert.deepEqual(toysOf(fixture.join(SIDECAR)), { "s1.example.com": "other" });
});

Deno.test("a builder of a further kind that throws is counted under its own name, and its last result stays", () => {
  const { fixture, change } = world();
  const state = fixture.join(SIDECAR);
  const before = contents(state);
  assert.deepEqual(change(toy(0, "breaks")), { toys: 1, clusters: 0 });
  const [first] = fixture.unbuilt;
  assert.deepEqual([first!.kind, first!.name], [{ name: "toys", services: ["ecds"] }, "s0.example.com"]);
  assert.equal(state.failing, true);
  assert.deepEqual(toysOf(state), { "s0.example.com": "one", "s1.example.com": "other" });
  assert.deepEqual(contents(state), before);
  change(toy(0, "three"));
  assert.equal(state.failing, false);
  assert.deepEqual(toysOf(state), { "s0.example.com": "three", "s1.example.com": "other" });
});

Deno.test("the page of caches lists resources of a further kind", () => {
  const { fixture, translator } = world();
  fixture.join(SIDECAR);
  const { names, bytes } = unpaced(cachedTypes(translator.caches)).get(TOY_TYPE)!;
  assert.deepEqual([[...names].sort(), bytes], [["s0.example.com", "s1.example.com"], "oneother".length]);
});
