import assert from "node:assert/strict";
import { parseObject } from "../../lib/config/object.ts";
import type { AnyConfigObject } from "../../lib/config/types.ts";
import { contents, Fixture } from "./fixture.ts";

/** Service entries whose endpoints have the given last byte. */
function entries(count: number, byte: number): AnyConfigObject[] {
  return Array.from({ length: count }, (_, i) => {
    const tree = {
      apiVersion: "networking.mesh.io/v1",
      kind: "ServiceEntry",
      metadata: { name: `s${i}`, namespace: "a" },
      spec: {
        hosts: [`s${i}.test`],
        resolution: "STATIC",
        ports: [{ number: 80, name: "http", protocol: "HTTP" }],
        endpoints: [{ address: `10.0.0.${byte}` }],
      },
    };
    const origin = { from: "file", source: "test", file: "test.yaml", line: 1, within: "" } as const;
    return parseObject(tree, origin, { defaultNamespace: "default" }).object as AnyConfigObject;
  });
}

const never = new AbortController().signal;

Deno.test("a mesh that is filled in steps equals a mesh that is filled at once", async () => {
  const [stepped, whole] = [new Fixture(), new Fixture()];
  const objects = entries(1500, 1);
  await stepped.pipeline.manyChanged([], objects, never);
  await stepped.pipeline.start();
  whole.pipeline.configChanged([], objects);
  whole.pipeline.flush();
  const node = { namespace: "a", address: "172.16.0.1" };
  assert.deepEqual(contents(stepped.join(node)), contents(whole.join(node)));
  assert.equal(stepped.pipeline.pushes, 1);
});

Deno.test("no push sees a part of many changes, however short the quiet time, also while other sources report", async () => {
  const settings = { PILOT_DEBOUNCE_AFTER: 0, PILOT_DEBOUNCE_MAX: 0, PILOT_ENABLE_EDS_DEBOUNCE: false };
  const fixture = new Fixture({ settings });
  const before = entries(1500, 1);
  await fixture.pipeline.manyChanged([], before, never);
  const seen: number[] = [];
  const pushed = Promise.withResolvers<void>();
  fixture.pipeline.onPush(() => {
    pushed.resolve();
    const index = fixture.pipeline.endpoints;
    seen.push([...index.entries()].filter(([, list]) => list[0]?.address === "10.0.0.2").length);
  });
  const change = fixture.pipeline.manyChanged(before, entries(1500, 2), never);
  fixture.pipeline.meshChanged(fixture.pipeline.mesh, { networks: {} });
  await Promise.all([change, pushed.promise]);
  assert.deepEqual([...new Set(seen)], [1500]);
});

Deno.test("many changes are given up when their source has ended, and later pushes go on", async () => {
  const fixture = new Fixture();
  const ending = new AbortController();
  ending.abort();
  await assert.rejects(fixture.pipeline.manyChanged([], entries(500, 1), ending.signal));
  fixture.pipeline.flush();
  assert.equal(fixture.pipeline.pushes, 1);
  assert.deepEqual(fixture.failures, []);
});
