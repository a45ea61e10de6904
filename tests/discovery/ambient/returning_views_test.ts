/** A tunnel that comes back names what it has: tens of thousands of names, which only a choice of single addresses needs. */
import assert from "node:assert/strict";
import { InternedNames } from "../../../lib/resource/names.ts";
import { ADDRESS, WILDCARD } from "../../../lib/xds/protocol/types.ts";
import { objectsOf } from "../../ambient/support/world.ts";
import { TunnelServer } from "./tunnel_server.ts";

const POD = `
apiVersion: v1
kind: Pod
metadata: { name: cart, namespace: shop }
spec: { nodeName: n2, serviceAccountName: cart, containers: [] }
status: { phase: Running, podIP: 10.1.0.1, conditions: [{ type: Ready, status: "True" }] }
`;

/** A view after the first request of a tunnel that comes back, and how often its names were read. */
function returned(wants: readonly string[], unwants: readonly string[] = []) {
  const server = new TunnelServer();
  const names = new InternedNames();
  for (const object of objectsOf(POD)) server.change(object, false);
  const view = server.source.connect();
  assert.notEqual(view.revision, 0, "the pod is taken in");
  let reads = 0;
  view.had(ADDRESS, () => {
    reads++;
    return ["Kubernetes//Pod/shop/cart"];
  });
  view.want(ADDRESS, names.of(wants));
  view.unwant(ADDRESS, names.of(unwants));
  const sets = () => view.resourceSets(ADDRESS)!.map((set) => [...set].map(({ name }) => name)).flat();
  return { sets, reads: () => reads };
}

Deno.test("the names of a tunnel with everything are never read", () => {
  const { sets, reads } = returned([WILDCARD]);
  assert.deepEqual([sets(), sets()].map((all) => all.length), [1, 1]);
  assert.equal(reads(), 0);
});

Deno.test("a tunnel on demand keeps what it has, and its names are read once", () => {
  const { sets, reads } = returned([WILDCARD], [WILDCARD]);
  assert.deepEqual(sets(), ["Kubernetes//Pod/shop/cart"]);
  assert.deepEqual(sets(), ["Kubernetes//Pod/shop/cart"]);
  assert.equal(reads(), 1);
});
