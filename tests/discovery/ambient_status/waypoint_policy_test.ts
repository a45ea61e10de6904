/** The leader writes into AuthorizationPolicies with targets whether a waypoint enforces them. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { until } from "../../patience.ts";
import { MESH } from "../../mesh/tunnel/objects.ts";
import { ObjectsApi } from "../status/objects_api.ts";
import { ASKING, BindingWorld, FOR_CART, gate } from "./binding_world.ts";
import { runs } from "../../properties.ts";

const ROOT = MESH.rootNamespace;
const service = (labels: Readonly<Record<string, string>> = ASKING, clusterIP = "10.96.0.1") => ({
  labels,
  spec: { clusterIP, ports: [{ port: 80 }] },
});
const GROUPS: Readonly<Record<string, string>> = {
  Service: "",
  ServiceEntry: "networking.mesh.io",
  Gateway: "gateway.networking.k8s.io",
  GatewayClass: "gateway.networking.k8s.io",
};
type Target = readonly [kind: string, name: string];
const refs = (...targets: readonly Target[]) => ({
  spec: { targetRefs: targets.map(([kind, name]) => ({ group: GROUPS[kind], kind, name })), rules: [{}] },
});
const gatewayClass = (controllerName: string) => ({ spec: { controllerName } });
const AT_CART = "The policy is enforced for Service shop/cart at the waypoint shop/gate.";
const READY = (world: BindingWorld) => world.put("Gateway", "gate", gate());

function newWorld(api = new ObjectsApi()): BindingWorld {
  return new BindingWorld(api, { writesPolicies: true });
}

function said(world: BindingWorld, name = "p", namespace = "shop"): string {
  return world.said(name, "AuthorizationPolicy", namespace);
}

Deno.test("a policy for a service with a waypoint is accepted, beside the conditions of others", async () => {
  const world = newWorld();
  const theirs = { type: "example.com/Theirs", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" };
  READY(world);
  world.put("Service", "cart", service({ "mesh.io/use-waypoint": "gate" }));
  world.put("AuthorizationPolicy", "p", { ...FOR_CART, generation: 4, status: { conditions: [theirs] } });
  const conditions = () => world.conditions("p", "AuthorizationPolicy");
  await world.led(() => until("the condition", () => conditions().length === 2));
  const [first, own] = conditions();
  assert.deepEqual(first, theirs);
  const { lastTransitionTime, ...rest } = own!;
  assert.match(String(lastTransitionTime), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.deepEqual(rest, {
    ...{ type: "WaypointAccepted", status: "True", reason: "Accepted", observedGeneration: 4, message: AT_CART },
  });
});

Deno.test("each target without a waypoint is said with its reason", async () => {
  const cases: readonly (readonly [
    name: string,
    put: (world: BindingWorld) => void,
    targets: readonly Target[],
    expected: string,
  ])[] = [
    ["no service", READY, [["Service", "cart"]], "TargetNotFound Service shop/cart does not exist"],
    [
      "no label",
      (world) => world.put("Service", "cart", service({})),
      [["Service", "cart"]],
      "AncestorNotBound Service shop/cart asks for no waypoint, or can have none",
    ],
    [
      "no waypoint",
      (world) => world.put("Service", "cart", service()),
      [["Service", "cart"]],
      "AncestorNotBound Service shop/cart does not have its waypoint, because Gateway shop/gate does not exist",
    ],
    [
      "headless",
      (world) => {
        READY(world);
        world.put("Service", "cart", service(ASKING, "None"));
      },
      [["Service", "cart"]],
      "AncestorNotBound Service shop/cart is headless: clients dial its pods, past the waypoint",
    ],
    ["no entry", READY, [["ServiceEntry", "out"]], "TargetNotFound ServiceEntry shop/out does not exist"],
    ["no Gateway", () => {}, [["Gateway", "gate"]], "TargetNotFound Gateway shop/gate does not exist"],
    [
      "no address",
      (world) => world.put("Gateway", "gate", gate({ isReady: false })),
      [["Gateway", "gate"]],
      "AncestorNotBound Gateway shop/gate has no address in its status",
    ],
    [
      "a class elsewhere",
      READY,
      [["GatewayClass", "mesh-waypoint"]],
      `Invalid GatewayClass mesh-waypoint is a target only in the root namespace, ${ROOT}`,
    ],
    [
      "two reasons",
      (world) => world.put("Service", "cart", service({})),
      [["Service", "cart"], ["Service", "late"]],
      "Invalid Service shop/cart asks for no waypoint, or can have none; Service shop/late does not exist",
    ],
  ];
  for (const [name, put, targets, expected] of cases) {
    const world = newWorld();
    put(world);
    world.put("AuthorizationPolicy", "p", refs(...targets));
    await world.led(() => until(name, () => said(world) !== ""));
    const [reason = "", ...why] = expected.split(" ");
    assert.equal(said(world), `False ${reason}: Nothing enforces the policy: ${why.join(" ")}.`, name);
  }
});

Deno.test("a policy with a target at a waypoint and another without one is accepted in part", async () => {
  const world = newWorld();
  READY(world);
  world.put("Service", "cart", service());
  world.put("AuthorizationPolicy", "p", refs(["Service", "cart"], ["Gateway", "gate"], ["Service", "late"]));
  await world.led(async () => {
    await until("it", () => said(world) !== "");
    assert.equal(
      said(world),
      "True PartiallyInvalid: The policy is enforced for Service shop/cart at the waypoint shop/gate, Gateway " +
        "shop/gate. Other targets do not have it: Service shop/late does not exist.",
    );
    world.put("Service", "late", service());
    await until("the late service", () => said(world).startsWith("True Accepted"));
    world.remove("Service", "late");
    await until("its end", () => said(world).startsWith("True PartiallyInvalid"));
  });
});

Deno.test("a class is a target in the root namespace, and a gateway of another network is not one of the class's", async () => {
  const world = newWorld();
  world.put("GatewayClass", "mesh-waypoint", gatewayClass("mesh.io/mesh-controller"));
  world.put("GatewayClass", "mesh-remote", gatewayClass("mesh.io/unmanaged-gateway"));
  for (const [name, of] of [["p", "mesh-waypoint"], ["q", "mesh-remote"], ["r", "unknown"]] as const) {
    world.put("AuthorizationPolicy", name, { ...refs(["GatewayClass", of]), namespace: ROOT });
  }
  const remote = { ...gate().spec, gatewayClassName: "mesh-remote" };
  world.put("Gateway", "west", { ...gate(), spec: remote });
  await world.led(async () => {
    const none = "False AncestorNotBound: Nothing enforces the policy: no Gateway of GatewayClass";
    const end = "takes tunnels and has an address in its status.";
    await until("three", () => ["p", "q", "r"].every((name) => said(world, name, ROOT) !== ""));
    assert.equal(said(world, "p", ROOT), `${none} mesh-waypoint ${end}`);
    assert.equal(said(world, "q", ROOT), `${none} mesh-remote ${end}`);
    assert.match(said(world, "r", ROOT), /^False TargetNotFound: .* GatewayClass unknown does not exist\.$/);
    READY(world);
    const accepted = "True Accepted: The policy is enforced for GatewayClass mesh-waypoint.";
    await until("the waypoint", () => said(world, "p", ROOT) === accepted);
    assert.equal(said(world, "q", ROOT), `${none} mesh-remote ${end}`);
  });
});

Deno.test("policies for workloads and for Gateways that take no tunnels have no such condition", async () => {
  const world = newWorld();
  const http = { name: "http", port: 80, protocol: "HTTP" };
  world.put("Gateway", "ingress", { ...gate(), spec: { gatewayClassName: "mesh", listeners: [http] } });
  READY(world);
  world.put("AuthorizationPolicy", "front", refs(["Gateway", "ingress"]));
  world.put("AuthorizationPolicy", "p", refs(["Gateway", "gate"]));
  await world.led(async () => {
    await until(
      "the waypoint's",
      () => said(world) === "True Accepted: The policy is enforced for Gateway shop/gate.",
    );
    world.put("AuthorizationPolicy", "p", { spec: { rules: [{}] }, generation: 2 });
    // Two duties write into the policy at once.
    await until("the tunnel's", () => said(world) === "True Accepted: Node tunnels enforce the policy as written.");
    assert.deepEqual(world.conditions("p", "AuthorizationPolicy").map(({ type }) => type), ["ZtunnelAccepted"]);
    world.put("AuthorizationPolicy", "p", { ...refs(["Gateway", "gate"]), generation: 3 });
    await until("and back", () => said(world) === "True Accepted: The policy is enforced for Gateway shop/gate.");
  });
  assert.equal(said(world, "front"), "");
});

Deno.test("a policy that only reports is said to refuse nothing", async () => {
  const world = newWorld();
  READY(world);
  const { spec } = refs(["Gateway", "gate"]);
  world.put("AuthorizationPolicy", "p", { spec: { ...spec, action: "AUDIT" } });
  await world.led(() => until("it", () => said(world) !== ""));
  assert.equal(
    said(world),
    "True Accepted: The policy only reports, and refuses nothing, for Gateway shop/gate.",
  );
});

type Step = "gate" | "no gate" | "unready" | "cart" | "no cart" | "plain cart" | "for cart" | "for gate";

function apply(world: BindingWorld, step: Step, generation: number): void {
  switch (step) {
    case "gate":
      return READY(world);
    case "unready":
      return world.put("Gateway", "gate", gate({ isReady: false }));
    case "no gate":
      return world.remove("Gateway", "gate");
    case "cart":
      return world.put("Service", "cart", service());
    case "plain cart":
      return world.put("Service", "cart", service({}));
    case "no cart":
      return world.remove("Service", "cart");
    case "for cart":
      return world.put("AuthorizationPolicy", "p", { ...FOR_CART, generation });
    case "for gate":
      return world.put("AuthorizationPolicy", "p", { ...refs(["Gateway", "gate"]), generation });
  }
}

const step = fc.constantFrom<Step>(
  ...["gate", "no gate", "unready", "cart", "no cart", "plain cart", "for cart", "for gate"] as const,
);

Deno.test("after random changes the condition is that of a leader that begins at their end", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const all: readonly Step[] = ["for cart", ...steps];
      const fresh = newWorld();
      all.forEach((one, at) => apply(fresh, one, at + 1));
      await fresh.led(() => until("the condition", () => said(fresh) !== ""));
      const world = newWorld();
      apply(world, all[0]!, 1);
      await world.led(async () => {
        await until("a first condition", () => said(world) !== "");
        steps.forEach((one, at) => apply(world, one, at + 2));
        await until(`${steps}: ${said(fresh)}`, () => said(world) === said(fresh));
      });
    }),
    { numRuns: runs(15) },
  );
});
