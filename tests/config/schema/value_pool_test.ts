import assert from "node:assert/strict";
import { parseObject } from "../../../lib/config/object.ts";
import type { ConfigObject } from "../../../lib/config/types.ts";
import { ValuePool } from "../../../lib/config/schema/value_pool.ts";

const origin = { from: "file", source: "test", file: "test.yaml", line: 1, within: "" } as const;

function workload(pool: ValuePool | undefined, name: string, labels: Record<string, string>, annotations = {}) {
  const tree = {
    apiVersion: "networking.mesh.io/v1",
    kind: "WorkloadEntry",
    metadata: { name, namespace: "ns", annotations },
    spec: { address: "10.0.0.1", labels },
  };
  const { object } = parseObject(tree, origin, { defaultNamespace: "default", ...(pool ? { pool } : {}) });
  return object as ConfigObject<"WorkloadEntry">;
}

Deno.test("equal labels of several objects are one object, unequal labels are not", () => {
  const pool = new ValuePool();
  const [one, two, other] = [{ a: "1", b: "2" }, { b: "2", a: "1" }, { a: "1", b: "3" }]
    .map((labels, i) => workload(pool, `w${i}`, labels).spec.labels);
  assert.equal(one, two);
  assert.notEqual(one, other);
  assert.deepEqual([one, other], [{ a: "1", b: "2" }, { a: "1", b: "3" }]);
});

Deno.test("objects are the same with a pool as without", () => {
  const texts = { 'quote"': "back\\slash", unicode: "äöü-\u2028", long: "x".repeat(300), empty: "" };
  const [pooled, plain] = [new ValuePool(), undefined].map((pool) => workload(pool, "w", { app: "a" }, texts));
  assert.deepEqual([pooled!.meta, pooled!.spec, pooled!.hash], [plain!.meta, plain!.spec, plain!.hash]);
});

Deno.test("a pool for one document takes little memory, and a pool with many values knows thousands of values", () => {
  const known = (pool: ValuePool, count: number) => {
    const maps = Array.from({ length: count }, (_, i) => ({ app: `application-${i * 7919}` }));
    const first = maps.map((map) => pool.map(map));
    return first.filter((map, i) => pool.map({ ...maps[i]! }) === map).length;
  };
  const pool = new ValuePool();
  assert.ok(known(pool, 3000) <= 256, "as many places as a small one");
  for (let i = 0; i < 300; i++) pool.string(`value-${i * 7919}`);
  assert.ok(known(pool, 3000) > 1000, "it has grown");
});
