/** The leader writes into Services and ServiceEntries whether their waypoint is used. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { until } from "../../patience.ts";
import { ASKING, BindingWorld, FOR_CART, gate } from "./binding_world.ts";
import { runs } from "../../properties.ts";

const service = (labels: Readonly<Record<string, string>> = ASKING, clusterIP = "10.96.0.1") => ({
  labels,
  spec: { clusterIP, ports: [{ port: 80 }] },
});
const ACCEPTED = "True WaypointAccepted: Connections of node tunnels go through the waypoint shop/gate.";
const DIRECT = "Connections go to the workloads directly. No policy needs the waypoint.";

Deno.test("a service with a ready waypoint is bound, beside the conditions of others", async () => {
  const world = new BindingWorld();
  const theirs = { type: "example.com/Theirs", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" };
  world.put("Gateway", "gate", gate());
  world.put("Service", "cart", { ...service(), status: { conditions: [theirs] } });
  world.put("ServiceEntry", "outside", {
    labels: ASKING,
    spec: { hosts: ["a.example"], ports: [{ number: 80, name: "http" }], resolution: "DNS" },
    generation: 3,
  });
  await world.led(() =>
    until("both", () => world.conditions("cart").length === 2 && world.said("outside", "ServiceEntry") !== "")
  );
  const [first, own] = world.conditions("cart");
  assert.deepEqual(first, theirs);
  const { lastTransitionTime, message, ...rest } = own!;
  assert.match(String(lastTransitionTime), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.equal(message, "Connections of node tunnels go through the waypoint shop/gate.");
  const wanted = { type: "istio.io/WaypointBound", status: "True", reason: "WaypointAccepted" };
  assert.deepEqual(rest, { ...wanted, observedGeneration: 0 });
  assert.equal(world.said("outside", "ServiceEntry"), ACCEPTED);
  assert.equal(world.conditions("outside", "ServiceEntry")[0]?.["observedGeneration"], 3);
  assert.deepEqual(world.api.writes, [
    "PATCH /api/v1/namespaces/shop/services/cart/status",
    "PATCH /apis/networking.mesh.io/v1/namespaces/shop/serviceentries/outside/status",
  ]);
});

Deno.test("each reason against a waypoint is said, with the way that connections take", async () => {
  const cases: readonly (readonly [name: string, put: (world: BindingWorld) => void, expected: string])[] = [
    ["missing", () => {}, `WaypointIsNotReady: The waypoint is not used: Gateway shop/gate does not exist. ${DIRECT}`],
    [
      "not ready",
      (world) => world.put("Gateway", "gate", gate({ isReady: false })),
      `WaypointIsNotReady: The waypoint is not used: Gateway shop/gate has no address in its status. ${DIRECT}`,
    ],
    [
      "wrong traffic",
      (world) => world.put("Gateway", "gate", gate({ traffic: "workload" })),
      `UnsupportedTrafficType: The waypoint is not used: Gateway shop/gate takes the traffic "workload" by its label ` +
      `mesh.io/waypoint-for, not "service". ${DIRECT}`,
    ],
  ];
  for (const [name, put, expected] of cases) {
    const world = new BindingWorld();
    put(world);
    world.put("Service", "cart", service());
    await world.led(() => until(name, () => world.said("cart") !== ""));
    assert.equal(world.said("cart"), `False ${expected}`, name);
  }
});

Deno.test("the label of a namespace counts, and a listener for its own namespace refuses others", async () => {
  const world = new BindingWorld();
  world.put("Namespace", "other", { labels: { ...ASKING, "mesh.io/use-waypoint-namespace": "shop" } });
  world.put("Gateway", "gate", gate());
  world.put("Service", "cart", { ...service({}), namespace: "other" });
  world.put("Service", "none", { ...service({ "mesh.io/use-waypoint": "none" }), namespace: "other" });
  await world.led(async () => {
    await until("the refusal", () => world.said("cart", "Service", "other").startsWith("False AttachmentDenied"));
    world.put("Gateway", "gate", gate({ from: "All" }));
    await until("the acceptance", () => world.said("cart", "Service", "other") === ACCEPTED);
  });
  assert.equal(world.said("none", "Service", "other"), "");
});

Deno.test("the message follows policies: closed with a policy that needs the waypoint, else direct", async () => {
  const world = new BindingWorld();
  world.put("Service", "cart", service());
  world.put("AuthorizationPolicy", "admins", FOR_CART);
  const closed = "Node tunnels refuse connections, because AuthorizationPolicy shop/admins needs the waypoint.";
  await world.led(async () => {
    await until("closed", () => world.said("cart").endsWith(closed));
    world.remove("AuthorizationPolicy", "admins");
    await until("direct", () => world.said("cart").endsWith(DIRECT));
    world.put("Gateway", "gate", gate({ isReady: false }));
    await until("the Gateway", () => world.said("cart").includes("has no address in its status"));
    world.put("Gateway", "gate", gate());
    await until("the address", () => world.said("cart") === ACCEPTED);
    world.remove("Gateway", "gate");
    await until("its end", () => world.said("cart").includes("does not exist"));
  });
});

Deno.test("with MESH_WAYPOINT_FAIL_OPEN the message says that nothing enforces the policy", async () => {
  const world = new BindingWorld();
  world.put("Service", "cart", service());
  world.put("AuthorizationPolicy", "admins", FOR_CART);
  await world.led(() => until("it", () => world.said("cart") !== ""), { MESH_WAYPOINT_FAIL_OPEN: true });
  assert.match(
    world.said("cart"),
    /directly, and nothing enforces AuthorizationPolicy shop\/admins \(MESH_WAYPOINT_FAIL_OPEN=true\)\.$/,
  );
});

Deno.test("a headless service with a ready waypoint is told that connections pass the waypoint by", async () => {
  const world = new BindingWorld();
  world.put("Gateway", "gate", gate());
  world.put("Service", "cart", service(ASKING, "None"));
  await world.led(() => until("it", () => world.said("cart") !== ""));
  assert.equal(
    world.said("cart"),
    "True WaypointAccepted: The service is headless: clients dial its pods, so connections go to the pods, past the " +
      "waypoint shop/gate unless the pods ask for it.",
  );
});

Deno.test("without its label the condition is removed, also if the label went while nobody led", async () => {
  const world = new BindingWorld();
  for (const name of ["cart", "stock"]) world.put("Service", name, service());
  world.put("Service", "plain", service({}));
  await world.led(async () => {
    await until("both", () => ["cart", "stock"].every((name) => world.said(name) !== ""));
    world.put("Service", "cart", service({}));
    await until("the removal", () => world.said("cart") === "");
  });
  world.put("Service", "stock", service({ "mesh.io/use-waypoint": "none" }));
  await world.led(() => until("the late removal", () => world.said("stock") === ""));
  assert.equal(world.api.writes.length, 4, world.api.writes.join("\n"));
});

Deno.test("a second server that leads over the same objects writes nothing anew", async () => {
  const first = new BindingWorld();
  const second = new BindingWorld(first.api);
  for (const world of [first, second]) {
    world.put("AuthorizationPolicy", "admins", FOR_CART);
    for (const name of ["cart", "stock", "web"]) world.put("Service", name, service());
  }
  const all = () => ["cart", "stock", "web"].every((name) => first.said(name) !== "");
  await first.led(() => until("all", all));
  for (const world of [second, first, second]) {
    const before = world.api.writes.length;
    const last = `last${before}`;
    // A single worker takes the services in order, so the last one's condition comes after all others were looked at.
    for (const one of [first, second]) one.put("Service", last, service());
    await world.led(() => until("the last one", () => world.said(last) !== ""));
    assert.equal(world.api.writes.length, before + 1, world.api.writes.join("\n"));
  }
});

interface Change {
  readonly of: "label" | "gateway" | "policy";
  readonly to: string;
}

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.constantFrom("asking", "none").map((to) => ({ of: "label" as const, to })),
  fc.constantFrom("ready", "not ready", "workload", "gone").map((to) => ({ of: "gateway" as const, to })),
  fc.constantFrom("put", "gone").map((to) => ({ of: "policy" as const, to })),
);

function apply(world: BindingWorld, { of, to }: Change): void {
  if (of === "label") world.put("Service", "cart", service(to === "none" ? {} : ASKING));
  else if (of === "policy" && to === "put") world.put("AuthorizationPolicy", "admins", FOR_CART);
  else if (of === "policy") world.remove("AuthorizationPolicy", "admins");
  else if (to === "gone") world.remove("Gateway", "gate");
  else world.put("Gateway", "gate", gate({ isReady: to !== "not ready", ...to === "workload" && { traffic: to } }));
}

/** The condition by a leader that begins after all changes. */
async function saidAtTheEnd(changes: readonly Change[]): Promise<string> {
  const world = new BindingWorld();
  world.put("Service", "cart", service());
  for (const one of changes) apply(world, one);
  world.put("Service", "last", service());
  await world.led(() => until("the last one", () => world.said("last") !== ""));
  return world.said("cart");
}

Deno.test("after random changes the condition is that of a leader that begins at their end", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
      const expected = await saidAtTheEnd(changes);
      const world = new BindingWorld();
      world.put("Service", "cart", service());
      await world.led(async () => {
        await until("a first condition", () => world.said("cart") !== "");
        for (const one of changes) apply(world, one);
        await until(`${JSON.stringify(changes)}: ${expected}`, () => world.said("cart") === expected);
      });
      // The next leader finds nothing to write.
      const writes = world.api.writes.length;
      world.put("Service", "last", service());
      await world.led(() => until("the last one", () => world.said("last") !== ""));
      assert.equal(world.said("cart"), expected);
      assert.equal(world.api.writes.length, writes + 1, world.api.writes.join("\n"));
    }),
    { numRuns: runs(15) },
  );
});

Deno.test("a WorkloadEntry with a waypoint for workloads is bound; of its namespace's label only a used waypoint counts", async () => {
  const world = new BindingWorld();
  world.put("Namespace", "shop", { labels: ASKING });
  world.put("Gateway", "gate", gate());
  world.put("WorkloadEntry", "own", { labels: ASKING, spec: { address: "10.1.0.1" } });
  world.put("WorkloadEntry", "silent", { spec: { address: "10.1.0.2" } });
  await world.led(async () => {
    await until("the refusal", () => world.said("own", "WorkloadEntry") !== "");
    assert.equal(
      world.said("own", "WorkloadEntry"),
      'False UnsupportedTrafficType: The waypoint is not used: Gateway shop/gate takes the traffic "service" by its ' +
        'label mesh.io/waypoint-for, not "workload". Connections go to the workload directly. No policy needs the ' +
        "waypoint.",
    );
    assert.equal(world.said("silent", "WorkloadEntry"), "");
    world.put("Gateway", "gate", gate({ traffic: "all" }));
    await until("both", () => ["own", "silent"].every((one) => world.said(one, "WorkloadEntry") === ACCEPTED));
    world.put("WorkloadEntry", "own", {
      labels: { "mesh.io/use-waypoint": "none" },
      spec: { address: "10.1.0.1" },
      generation: 2,
    });
    await until("none", () => world.conditions("own", "WorkloadEntry").length === 0);
  });
});

Deno.test("the condition says whether gateways use the waypoint of a service that asks them", async () => {
  const labels = { ...ASKING, "mesh.io/ingress-use-waypoint": "true" };
  for (
    const [isOn, expected] of [
      [true, `${ACCEPTED} Gateways use the waypoint, too.`],
      [false, `${ACCEPTED} Gateways pass the waypoint by (ENABLE_INGRESS_WAYPOINT_ROUTING=false).`],
    ] as const
  ) {
    const world = new BindingWorld();
    world.put("Gateway", "gate", gate());
    world.put("Service", "cart", service(labels));
    await world.led(() => until("the condition", () => world.said("cart") !== ""), {
      ENABLE_INGRESS_WAYPOINT_ROUTING: isOn,
    });
    assert.equal(world.said("cart"), expected);
  }
});
