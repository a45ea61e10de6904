/** Random statuses of random routes: writing is idempotent, and what belongs to others is never touched. */
import assert from "node:assert/strict";
import * as fc from "fast-check";
import type { StatusJson } from "../../lib/gateway_api/status/conditions.ts";
import { routeStatus } from "../../lib/gateway_api/status/routes.ts";
import { AttachWorld } from "./attach_world.ts";
import { runs } from "../properties.ts";

const CONTROLLERS = ["mesh.io/gateway-controller", "istio.io/gateway-controller", "example.com/other"];
const TYPES = ["Accepted", "ResolvedRefs", "PartiallyInvalid", "example.com/Odd"];

const reference = fc.record({
  name: fc.constantFrom("gw", "gone"),
  sectionName: fc.constantFrom("a", "b", "c"),
}, { requiredKeys: ["name"] });

const condition = fc.record({
  type: fc.constantFrom(...TYPES),
  status: fc.constantFrom("True", "False", "Unknown"),
  lastTransitionTime: fc.constantFrom("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
  observedGeneration: fc.nat(2),
});

const entry = fc.record({
  parentRef: reference,
  controllerName: fc.constantFrom(...CONTROLLERS),
  conditions: fc.uniqueArray(condition, { selector: ({ type }) => type }),
});

const world = fc.record({
  parents: fc.array(reference, { maxLength: 3 }),
  present: fc.record({ parents: fc.array(entry, { maxLength: 4 }) }, { requiredKeys: [] }),
  refused: fc.array(fc.record({ rule: fc.nat(1), reason: fc.constantFrom("InvalidFilter", "UnsupportedValue") }), {
    maxLength: 2,
  }),
});

type Entry = { readonly parentRef: object; readonly controllerName: string; readonly conditions: { type: string }[] };

Deno.test("a written route status is stable, complete, and leaves other controllers' entries and conditions", () => {
  const built = new AttachWorld("");
  const gateway = {
    ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "Gateway", metadata: { name: "gw", namespace: "infra" } },
    spec: {
      gatewayClassName: "mesh",
      listeners: ["a", "b"].map((name, at) => ({ name, port: 80 + at, protocol: "HTTP" })),
    },
  };
  built.putTrees([gateway]);
  fc.assert(
    fc.property(world, ({ parents, present, refused }) => {
      built.putTrees([{
        ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "HTTPRoute" },
        metadata: { name: "r", namespace: "infra", generation: 2 },
        spec: { parentRefs: parents, rules: [{}, {}] },
      }]);
      const route = built.route("HTTPRoute", "r");
      const { resolvedRefs } = built.resolve(route);
      const write = (before: StatusJson, now: string) =>
        routeStatus(
          {
            ...{
              route,
              attachments: built.attachments(route),
              resolvedRefs: { gateway: resolvedRefs, mesh: resolvedRefs },
            },
            refused: refused.map((one) => ({ ...one, message: `rule ${one.rule}` })),
            isOurs: (controller) => controller !== "example.com/other",
          },
          before,
          now,
        ) as StatusJson | undefined;
      const next = write(present, "2026-02-02T00:00:00Z") ?? present;
      assert.equal(write(next, "2026-03-03T00:00:00Z"), undefined, "a second write changes nothing");
      const entries = (next["parents"] ?? []) as Entry[];
      const others = (list: readonly Entry[]) => list.filter((one) => one.controllerName === "example.com/other");
      assert.deepEqual(others(entries), others((present.parents ?? []) as Entry[]));
      const wanted = new Set(parents.filter(({ name }) => name === "gw").map((one) => one.sectionName));
      const ours = entries.filter((one) => one.controllerName !== "example.com/other");
      assert.equal(ours.length, wanted.size, "an entry for each distinct parent of ours");
      for (const { conditions } of ours) {
        assert.equal(new Set(conditions.map(({ type }) => type)).size, conditions.length, "a condition of a type once");
        assert.ok(["Accepted", "ResolvedRefs"].every((type) => conditions.some((one) => one.type === type)));
      }
      const odd = (list: readonly Entry[]) =>
        list.flatMap((one) => one.conditions).filter(({ type }) => /Odd/.test(type));
      const foreign = odd(entries);
      assert.ok(foreign.every((one) => odd((present.parents ?? []) as Entry[]).some((old) => old === one)));
    }),
    { numRuns: runs(500) },
  );
});
