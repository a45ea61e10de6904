/** What a node tunnel holds: rejections in its words, and the order within a response. */
import assert from "node:assert/strict";
import { encode } from "../../lib/pb/codec.ts";
import type { istio } from "../../proto/gen/types.ts";
import { HeldResources } from "./discovery/held.ts";

const workload = (fields: istio.workload.Workload) => encode("istio.workload.Address", { workload: fields });
const service = (fields: istio.workload.Service) => encode("istio.workload.Address", { service: fields });
const policy = (fields: istio.security.Authorization) => encode("istio.security.Authorization", fields);
const update = (resources: Readonly<Record<string, Uint8Array>>, ...removed: string[]) => ({
  resources: Object.entries(resources).map(([name, bytes]) => ({ name, version: `${bytes.length}`, bytes })),
  removed,
});

const RIGHT = { uid: "c//Pod/shop/cart", name: "cart", namespace: "shop", addresses: [Uint8Array.of(10, 0, 0, 1)] };

Deno.test("what is wrong is told by name and reason, and what is right beside it is in force", () => {
  const held = new HeldResources();
  const rejected = held.take(
    "addresses",
    update({
      "c//Pod/shop/cart": workload(RIGHT),
      "c//Pod/shop/short": workload({ ...RIGHT, addresses: [Uint8Array.of(1, 2, 3)] }),
      "c//Pod/shop/new": workload({ ...RIGHT, tunnel_protocol: 2 as 1 }),
      "shop/web": service({ hostname: "web", load_balancing: { mode: 3 as 1 } }),
      "shop/lost": service({ hostname: "lost", waypoint: { hbone_mtls_port: 15008 } }),
      "shop/vip": service({ hostname: "vip", addresses: [{ network: "", address: new Uint8Array(5) }] }),
    }),
  );
  assert.deepEqual(rejected?.split("; "), [
    "c//Pod/shop/short: failed to parse address, had 3 bytes",
    "c//Pod/shop/new: decode error: unknown enumeration value 2",
    "shop/web: decode error: unknown enumeration value 3",
    "shop/lost: decode error: a gateway without a destination",
    "shop/vip: failed to parse address, had 5 bytes",
  ]);
  assert.deepEqual([...held.addresses.keys()], ["c//Pod/shop/cart"]);
  assert.equal(held.workloadOf({ name: "cart", namespace: "shop", serviceAccount: "" })?.uid, RIGHT.uid);
  assert.equal(held.workloadOf({ name: "cart", namespace: "shop", serviceAccount: "other" }), undefined);
});

Deno.test("a wrong policy leaves the old policy in force", () => {
  const held = new HeldResources();
  assert.equal(
    held.take("policies", update({ "shop/p": policy({ name: "p", namespace: "shop", action: 1 }) })),
    undefined,
  );
  const before = held.policies.get("shop/p");
  const range = { address: new Uint8Array(2), length: 8 };
  const wrong = policy({ name: "p", groups: [{ rules: [{ matches: [{ not_source_ips: [range] }] }] }] });
  assert.equal(held.take("policies", update({ "shop/p": wrong })), "shop/p: failed to parse address, had 2 bytes");
  const action = policy({ name: "p", action: 7 as 1 });
  assert.equal(
    held.take("policies", update({ "shop/p": action })),
    "shop/p: decode error: unknown enumeration value 7",
  );
  assert.equal(held.policies.get("shop/p"), before);
});

Deno.test("within a response removals come after updates, and decisions see the new state", () => {
  const held = new HeldResources();
  held.take("addresses", update({ a: workload(RIGHT) }));
  assert.equal(held.state.addresses.workloadAt("", "10.0.0.1")?.name, "cart");
  held.take("addresses", update({ b: workload({ ...RIGHT, name: "next" }), c: workload(RIGHT) }, "a", "c"));
  assert.deepEqual([...held.addresses.keys()], ["b"]);
  assert.equal(held.state.addresses.workloadAt("", "10.0.0.1")?.name, "next");
});
