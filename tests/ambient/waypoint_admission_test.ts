/** Policies that admit waypoints at the workloads behind them. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { PolicySet } from "../../lib/ambient/policy_set.ts";
import { readable } from "../../lib/pb/reflect.ts";
import { ResourceTable } from "../../lib/resource/set.ts";
import { MESH } from "../mesh/tunnel/objects.ts";
import { VARIANTS } from "./support/variants.ts";
import { objectsOf, TunnelWorld, type WorldObject } from "./support/world.ts";
import { runs } from "../properties.ts";

const gateway = (listener: string, name = "gate") => `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: ${name}, namespace: shop, labels: { istio.io/waypoint-for: all } }
spec: { gatewayClassName: istio-waypoint, listeners: [{ name: mesh, ${listener} }] }
status: { addresses: [{ type: IPAddress, value: 10.96.0.9 }] }
`;
const HBONE = "port: 15008, protocol: HBONE";
const pod = (name: string, labels: string, more = "") => `
apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: shop, labels: { ${labels} } }
spec: { serviceAccountName: of-${name}, nodeName: n, containers: [{ name: c, image: i }] }
status: { phase: ${
  more || "Running"
}, podIPs: [{ ip: 10.0.0.${name.length} }], conditions: [{ type: Ready, status: "True" }] }
`;
const instance = (name: string, phase = "") => pod(name, "gateway.networking.k8s.io/gateway-name: gate", phase);
const service = (labels: string) => `
apiVersion: v1
kind: Service
metadata: { name: cart, namespace: shop, labels: { ${labels} } }
spec: { clusterIP: 10.96.0.1, clusterIPs: [10.96.0.1], selector: { app: cart }, ports: [{ name: http, port: 80 }] }
`;
const NAME = "shop/istio_allow_waypoint_shop_gate";

function policiesOf(...texts: string[]): PolicySet {
  const set = new PolicySet(MESH, new ResourceTable(), () => {}, true);
  for (const object of texts.flatMap(objectsOf)) set.put(object);
  set.settle();
  return set;
}

function policies(set: PolicySet): Record<string, unknown> {
  set.settle();
  return Object.fromEntries(
    [...set.set].map(({ name, value }) => [name, readable("istio.security.Authorization", value)]),
  );
}

const admitting = (...accounts: string[]) => ({
  ...{ name: "istio_allow_waypoint_shop_gate", namespace: "shop", scope: "WORKLOAD_SELECTOR" },
  groups: [{
    rules: [{ matches: [{ principals: accounts.map((one) => ({ exact: `corp.example/ns/shop/sa/${one}` })) }] }],
  }],
});

Deno.test("a Gateway with an HBONE listener has a policy for the accounts of its pods, and without a pod for nobody", () => {
  const set = policiesOf(
    gateway(HBONE),
    instance("b"),
    instance("aa"),
    instance("ended", "Succeeded"),
    pod("other", "app: x"),
  );
  assert.deepEqual(policies(set), { [NAME]: admitting("of-aa", "of-b") });
  assert.deepEqual([...set.set].map(({ causes }) => causes), [["ApiGateway/shop/gate"]]);
  set.remove("Pod/shop/aa");
  assert.deepEqual(policies(set), { [NAME]: admitting("of-b") });
  set.remove("Pod/shop/b");
  const { groups: _, ...nobody } = admitting();
  assert.deepEqual(policies(set), { [NAME]: nobody });
  set.remove("ApiGateway/shop/gate");
  assert.deepEqual(policies(set), {});
});

Deno.test("another Gateway has no policy, and another trust domain makes the policies again", () => {
  assert.deepEqual(policies(policiesOf(gateway("port: 80, protocol: HTTP"), instance("b"))), {});
  const set = policiesOf(gateway(HBONE), instance("b"));
  set.useMesh({ ...MESH, trustDomain: "new.example" });
  assert.match(JSON.stringify(policies(set)), /new\.example\/ns\/shop\/sa\/of-b/);
});

/** The names listed at the pod `cart`. */
function listed(admitsWaypoints: boolean, ...texts: string[]) {
  const found = new TunnelWorld({ admitsWaypoints, policies: () => ["shop/own"] })
    .put(...[pod("cart", "app: cart"), ...texts].flatMap(objectsOf)).readable() as Record<
      string,
      { workload?: { authorization_policies?: string[] } }
    >;
  return found["Kubernetes//Pod/shop/cart"]?.workload?.authorization_policies;
}

Deno.test("a workload lists the policy if its service or the workload itself uses the waypoint, and only with the setting", () => {
  const asks = service("istio.io/use-waypoint: gate");
  const own = pod("cart", "app: cart, istio.io/use-waypoint: gate");
  assert.deepEqual(listed(true, gateway(HBONE), asks), ["shop/own", NAME]);
  assert.deepEqual(listed(true, gateway(HBONE), own), ["shop/own", NAME]);
  assert.deepEqual(listed(true, gateway(HBONE), service("")), ["shop/own"]);
  assert.deepEqual(listed(true, asks), ["shop/own"], "no such Gateway");
  assert.deepEqual(listed(true, gateway("port: 80, protocol: HTTP"), asks), ["shop/own"], "a Gateway without a policy");
  assert.deepEqual(listed(false, gateway(HBONE), asks), ["shop/own"]);
});

Deno.test("a change of the label of a service, or of the Gateway, reaches the list of the workload", () => {
  const world = new TunnelWorld({ admitsWaypoints: true });
  const names = () => JSON.stringify(world.readable()["Kubernetes//Pod/shop/cart"]).includes(NAME);
  world.put(...[pod("cart", "app: cart"), service(""), gateway(HBONE)].flatMap(objectsOf));
  assert.equal(names(), false);
  world.put(...objectsOf(service("istio.io/use-waypoint: gate")));
  assert.equal(names(), true);
  world.index.remove("ApiGateway/shop/gate");
  assert.equal(names(), false);
  world.put(...objectsOf(gateway(HBONE)));
  assert.equal(names(), true);
  world.put(...objectsOf(service("istio.io/use-waypoint: none")));
  assert.equal(names(), false);
});

Deno.test("after random changes, lists and policies equal those of a new start, and each listed policy is there", () => {
  const extra = [
    gateway(HBONE),
    gateway("port: 80, protocol: HTTP"),
    instance("b"),
    instance("b", "Failed"),
    pod("b", "app: b"),
  ];
  const all: WorldObject[] = [...VARIANTS, ...extra.flatMap(objectsOf)];
  const step = fc.record({
    at: fc.integer({ min: 0, max: all.length - 1 }),
    isRemoved: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
  });
  const fresh = () => ({
    world: new TunnelWorld({ admitsWaypoints: true }),
    set: new PolicySet(MESH, new ResourceTable(), () => {}, true),
  });
  const versions = ({ world, set }: ReturnType<typeof fresh>) => {
    set.settle();
    return [...world.resources(), ...set.set].map(({ name, version }) => `${name} ${version}`).sort();
  };
  let lists = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 80, size: "max" }), (steps) => {
      const kept = fresh();
      const there = new Map<string, WorldObject>();
      for (const { at, isRemoved } of steps) {
        const object = all[at]!;
        if (isRemoved) {
          there.delete(object.key);
          kept.world.index.remove(object.key);
          kept.set.remove(object.key);
        } else {
          there.set(object.key, object);
          kept.world.put(object);
          kept.set.put(object);
        }
        if (at % 3 === 0) versions(kept);
      }
      const anew = fresh();
      for (const object of there.values()) {
        anew.world.put(object);
        anew.set.put(object);
      }
      assert.deepEqual(versions(kept), versions(anew));
      const names = new Set([...kept.set.set].map(({ name }) => name));
      const texts = JSON.stringify(kept.world.readable()).match(/[a-z-]+\/istio_allow_waypoint_[a-z_-]+/g) ?? [];
      for (const name of texts) assert.ok(names.has(name), name);
      lists += texts.length;
    }),
    { numRuns: runs(400) },
  );
  assert.ok(lists > 50, `${lists} lists`);
});
