/** Endpoints of slices are read without a schema where that is enough. */
import fc from "fast-check";
import assert from "node:assert/strict";
import { anyEndpoints } from "../../../lib/config/facts/service_schema.ts";
import { usualEndpoints } from "../../../lib/config/facts/usual_endpoints.ts";

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const odd = fc.constantFrom<unknown>(null, 1, "true", [], {}, [1], { kind: 1 });
const one = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 20, arbitrary: maybe(value) as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: odd });

const written = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.record({
      addresses: fc.oneof({
        weight: 20,
        arbitrary: fc.array(fc.ipV4(), { minLength: 1, maxLength: 2 }) as fc.Arbitrary<unknown>,
      }, { weight: 1, arbitrary: odd }),
      conditions: one(
        fc.record({ ready: one(fc.boolean()), serving: one(fc.boolean()), terminating: one(fc.boolean()) }),
      ),
      nodeName: one(fc.string()),
      zone: one(fc.string()),
      hostname: odd,
      targetRef: one(fc.record({ kind: one(fc.constantFrom("Pod", "Node")), name: one(fc.constantFrom("", "a")) })),
    }) as fc.Arbitrary<unknown>,
  },
  { weight: 1, arbitrary: odd },
);

Deno.test("what is read without the schema is what the schema reads, and what the schema refuses is not read", () => {
  let usual = 0;
  fc.assert(
    fc.property(fc.array(written, { maxLength: 3 }), (raw) => {
      const list = JSON.parse(JSON.stringify(raw));
      const quick = usualEndpoints(list);
      if (quick === undefined) return;
      usual++;
      assert.deepEqual({ success: true, data: quick }, anyEndpoints.safeParse(list));
    }),
    { numRuns: 2000 },
  );
  assert.ok(usual > 200, `${usual} lists were usual`);
});

Deno.test("endpoints as orchestrators write them need no schema", () => {
  const pod = {
    addresses: ["10.0.0.1"],
    conditions: { ready: true, serving: true, terminating: false },
    nodeName: "n1",
    zone: "z1",
    targetRef: { kind: "Pod", namespace: "shop", name: "cart-1", uid: "u" },
  };
  assert.deepEqual(usualEndpoints([pod, { addresses: ["10.0.0.2"] }]), [
    {
      addresses: ["10.0.0.1"],
      ready: true,
      serving: true,
      terminating: false,
      nodeName: "n1",
      zone: "z1",
      pod: "cart-1",
    },
    { addresses: ["10.0.0.2"], ready: true },
  ]);
});
