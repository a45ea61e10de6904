/** Waypoints share results, and changes concern the waypoints of the changed service alone. */
import assert from "node:assert/strict";
import { TYPE } from "../../lib/translate/encode/encode.ts";
import type { ProxyState } from "../../lib/translate/machine/per_proxy/proxy_state.ts";
import { contents, Fixture, texts } from "./fixture.ts";

const AGENT = { PROXY_CONFIG: { stringValue: "{}" } };
const TYPES = [TYPE.cluster, TYPE.assignment, TYPE.listener, TYPE.route, TYPE.extension];

function gateway(name: string): object {
  return {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "Gateway",
    metadata: { namespace: "shop", name },
    spec: { gatewayClassName: "istio-waypoint", listeners: [{ name: "mesh", port: 15008, protocol: "HBONE" }] },
  };
}

function entry(name: string, address: string, waypoint: string, weight = 1): object {
  return {
    apiVersion: "networking.istio.io/v1",
    kind: "ServiceEntry",
    metadata: { namespace: "shop", name, labels: { "istio.io/use-waypoint": waypoint } },
    spec: {
      ...{ hosts: [`${name}.test`], addresses: [address], location: "MESH_INTERNAL", resolution: "STATIC" },
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
      endpoints: [{ address: "10.1.0.1", weight }],
    },
  };
}

function deny(name: string, target: string): object {
  return {
    apiVersion: "security.istio.io/v1",
    kind: "AuthorizationPolicy",
    metadata: { namespace: "shop", name },
    spec: {
      targetRefs: [{ group: "networking.istio.io", kind: "ServiceEntry", name: target }],
      action: "DENY",
      rules: [{ to: [{ operation: { paths: ["/admin"] } }] }],
    },
  };
}

function denyAll(
  name: string,
  namespace: string,
  principal: string,
  labels?: Readonly<Record<string, string>>,
): object {
  return {
    apiVersion: "security.istio.io/v1",
    kind: "AuthorizationPolicy",
    metadata: { namespace, name },
    spec: {
      ...(labels ? { selector: { matchLabels: labels } } : {}),
      action: "DENY",
      rules: [{ from: [{ source: { principals: [principal] } }] }],
    },
  };
}

function world(
  more: Readonly<Record<string, boolean>> = {},
): { fixture: Fixture; join: (waypoint: string, address: string) => ProxyState } {
  const ambient = { PILOT_ENABLE_AMBIENT: true, PILOT_ENABLE_AMBIENT_WAYPOINTS: true };
  const fixture = new Fixture({ settings: { ...ambient, ...more } });
  fixture.put(gateway("door"), gateway("gate"));
  fixture.put(entry("web", "10.96.0.1", "door"), entry("pay", "10.96.0.2", "door"), entry("db", "10.96.0.3", "gate"));
  fixture.pipeline.flush();
  const join = (waypoint: string, address: string) =>
    fixture.join({
      ...{ namespace: "shop", address, name: `${waypoint}-1`, type: "waypoint", metadata: AGENT },
      labels: { "gateway.networking.k8s.io/gateway-name": waypoint },
    });
  return { fixture, join };
}

const resources = (state: ProxyState) =>
  TYPES.flatMap((type) => (state.resourceSets(type) ?? []).flatMap((set) => [...set]));
const sets = (state: ProxyState) => TYPES.map((type) => state.resourceSets(type));

Deno.test("replicas of a waypoint share every resource", () => {
  const { fixture, join } = world();
  const [one, two] = [join("door", "10.0.0.1"), join("door", "10.0.0.2")];
  const both = [resources(one), resources(two)] as const;
  assert.ok(both[0].length > 5);
  assert.ok(both[0].every((resource, at) => resource === both[1][at]));
  assert.deepEqual(fixture.failures, []);
});

Deno.test("a change of a service, its endpoints or its policies leaves the sets of other waypoints as they are", () => {
  const { fixture, join } = world();
  const [door, gate] = [join("door", "10.0.0.1"), join("gate", "10.0.0.2")];
  const changes: Readonly<Record<string, object>> = {
    endpoints: entry("web", "10.96.0.1", "door", 2),
    address: entry("web", "10.96.0.9", "door", 2),
    policy: deny("web", "web"),
  };
  for (const [what, tree] of Object.entries(changes)) {
    const [before, others] = [contents(door), sets(gate)];
    fixture.put(tree);
    fixture.pipeline.flush();
    assert.notDeepEqual(contents(door), before, what);
    assert.ok(sets(gate).every((one, at) => one === others[at]), what);
  }
});

Deno.test("a policy of one service changes the chain of that service, and no route", () => {
  const { fixture, join } = world();
  const door = join("door", "10.0.0.1");
  const before = texts(door);
  fixture.put(deny("web", "web"));
  fixture.pipeline.flush();
  const now = texts(door);
  const changed = Object.keys(now).filter((name) => now[name] !== before[name]);
  assert.deepEqual(changed, ["listener/main_internal"]);
  const chains = (all: Record<string, string>) =>
    (JSON.parse(all["listener/main_internal"]!) as { filter_chains: { name: string }[] }).filter_chains;
  const differing = chains(now).filter((chain, at) => JSON.stringify(chain) !== JSON.stringify(chains(before)[at])).map(
    ({ name }) => name,
  );
  assert.deepEqual(differing, ["inbound-vip|80|http|web.test"]);
});

Deno.test("a service that leaves its waypoint is closed there, and open at the waypoint that it joins", () => {
  const { fixture, join } = world();
  const [door, gate] = [join("door", "10.0.0.1"), join("gate", "10.0.0.2")];
  const has = (state: ProxyState) => texts(state)["listener/main_internal"]!.includes("web.test");
  assert.deepEqual([has(door), has(gate)], [true, false]);
  fixture.put(entry("web", "10.96.0.1", "gate"));
  fixture.pipeline.flush();
  assert.deepEqual([has(door), has(gate)], [false, true]);
  fixture.remove("ApiGateway/shop/gate");
  fixture.pipeline.flush();
  assert.deepEqual([has(door), has(gate)], [false, false]);
});

for (const layered of [true, false]) {
  Deno.test(`policies without targets ${layered ? "change connect_terminate of the waypoints that they choose" : "change no waypoint"} with ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES=${layered}`, () => {
    // The setting rests on waypoints, not on ambient mode.
    const { fixture, join } = world({
      PILOT_ENABLE_AMBIENT: false,
      ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES: layered,
    });
    const [one, two] = [join("door", "10.0.0.1"), join("door", "10.0.0.2")];
    const gate = join("gate", "10.0.0.3");
    const byLabel = { "gateway.networking.k8s.io/gateway-name": "door" };
    const steps: readonly [policy: object, door: boolean, gate: boolean][] = [
      [denyAll("shop", "shop", "cluster.local/ns/lab/sa/a"), true, true],
      [denyAll("door", "shop", "cluster.local/ns/lab/sa/b", byLabel), true, false],
      [denyAll("root", "mesh-system", "cluster.local/ns/lab/sa/c"), true, true],
      [denyAll("lab", "lab", "cluster.local/ns/lab/sa/d"), false, false],
      [denyAll("other", "shop", "cluster.local/ns/lab/sa/e", { app: "other" }), false, false],
    ];
    for (const [policy, atDoor, atGate] of steps) {
      const before = [texts(one), texts(gate)] as const;
      const held = [sets(one), sets(gate)] as const;
      fixture.put(policy);
      fixture.pipeline.flush();
      [one, gate].forEach((state, at) => {
        const now = texts(state);
        const changed = Object.keys(now).filter((name) => now[name] !== before[at]![name]);
        const isChosen = layered && [atDoor, atGate][at]!;
        assert.deepEqual(changed, isChosen ? ["listener/connect_terminate"] : [], JSON.stringify(policy));
        assert.equal(sets(state).every((set, i) => set === held[at]![i]), !isChosen);
      });
    }
    const [first, second] = [resources(one), resources(two)];
    assert.ok(first.every((resource, at) => resource === second[at]), "replicas share");
    assert.deepEqual(fixture.failures, []);
  });
}
