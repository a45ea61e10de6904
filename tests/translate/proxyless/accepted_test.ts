/** A real library accepts every sent resource: zero rejections. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { encodeResource } from "../../../lib/resource/encoded.ts";
import { tree } from "../../discovery/random_trees.ts";
import { inputNames } from "../../golden.ts";
import { refusal } from "./accepted.ts";
import { worldOf } from "../golden/expected.ts";
import { proxiesOf, readGolden } from "../golden/read.ts";
import { Fixture, resources, type TestNode } from "../../discovery/fixture.ts";
import { runs } from "../../properties.ts";

const folder = new URL("../../testdata/translate/proxyless/", import.meta.url);

/** A library in a workload of namespace a. */
const LIBRARY: TestNode = {
  namespace: "a",
  address: "10.1.0.1",
  labels: { app: "reviews" },
  delta: false,
  metadata: { GENERATOR: { stringValue: "grpc" } },
};

for (const name of inputNames(folder)) {
  Deno.test(`gRPC for Node takes all resources of golden ${name}`, () => {
    const golden = readGolden(Deno.readTextFileSync(new URL(`${name}.yaml`, folder)));
    const [proxy] = [...proxiesOf(golden.head).values()];
    const all = [...worldOf(golden).resourcesOf(proxy!)];
    assert.deepEqual(all.map(([key, one]) => [key, refusal(one)]).filter(([, why]) => why !== undefined), []);
  });
}

Deno.test("it takes them of any configuration", () => {
  fc.assert(
    fc.property(fc.array(tree, { minLength: 3, maxLength: 25, size: "max" }), (trees) => {
      const fixture = new Fixture();
      for (const one of trees) fixture.offer(one);
      fixture.pipeline.flush();
      for (const [key, one] of Object.entries(resources(fixture.join(LIBRARY)))) {
        assert.equal(refusal(one), undefined, key);
      }
    }),
    { numRuns: runs(60) },
  );
});

Deno.test("the checker refuses unknown fields, so the check can fail", () => {
  const url = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
  assert.match(refusal(encodeResource(url, "x", new Uint8Array())) ?? "", /validation failed/);
});
