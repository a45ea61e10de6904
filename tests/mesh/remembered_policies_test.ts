/** Policies that are remembered by what decides about them. */
import assert from "node:assert/strict";
import { RememberedPolicies } from "../../lib/mesh/selection/remembered.ts";

Deno.test("waypoints share what is found for their targets; without a target each waypoint has its own", () => {
  let looked = 0;
  const remembered = new RememberedPolicies(({ namespace }) => (looked++, `policies of ${namespace}`));
  const of = (namespace: string, ofWaypoint: Parameters<typeof remembered.of>[0]["ofWaypoint"]) =>
    remembered.of({ namespace, labels: {}, ...ofWaypoint && { ofWaypoint } });
  const targets = [{ namespace: "a", kind: "Gateway", name: "gate" }] as const;
  of("a", targets);
  of("a", targets);
  assert.equal(looked, 1, "replicas share");
  // Every waypoint whose Gateway does not exist has this list.
  const none = [] as const;
  assert.deepEqual(["a", "b"].map((namespace) => of(namespace, none)), ["policies of a", "policies of b"]);
});
