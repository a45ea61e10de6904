import assert from "node:assert/strict";
import { TunnelPeerAuthentications } from "../../../lib/mesh/tunnel/peer_authentications.ts";
import { MESH, ROOT, selecting, written, type WrittenPolicy } from "./objects.ts";

const STRICT = `${ROOT}/istio_converted_static_strict`;
const PORTS = "shop/converted_peer_authentication_cart";
const cart = { namespace: "shop", labels: { app: "cart" } };
const other = { namespace: "shop", labels: { app: "other" } };
const plain = { not_principals: [{ presence: {} }] };

const peer = (one: WrittenPolicy) => written("PeerAuthentication", one);
const mtls = (mode: string) => ({ mtls: { mode } });
const ports = (modes: Readonly<Record<number, string>>) => ({
  portLevelMtls: Object.fromEntries(Object.entries(modes).map(([port, mode]) => [port, { mode }])),
});
const mesh = (mode: string, created = 0) =>
  peer({ name: `mesh-${created}`, namespace: ROOT, spec: mtls(mode), created });
const shop = (mode: string, created = 0) =>
  peer({ name: `shop-${created}`, namespace: "shop", spec: mtls(mode), created });
const ofCart = (spec: object, more: Partial<WrittenPolicy> = {}) =>
  peer({ name: "cart", namespace: "shop", spec: { ...selecting("cart"), ...spec }, ...more });

function index(...objects: readonly ReturnType<typeof peer>[]): TunnelPeerAuthentications {
  const made = new TunnelPeerAuthentications(MESH);
  made.update([], objects);
  return made;
}

function groupsOf(from: TunnelPeerAuthentications, name: string) {
  return from.get(name)?.groups?.map(({ rules = [] }) => rules.map(({ matches }) => matches));
}

Deno.test("the fixed policy refuses connections without an identity, and is there with the first object", () => {
  assert.deepEqual([...index().names()], []);
  const made = index(shop("PERMISSIVE"));
  assert.deepEqual([...made.names()], [STRICT]);
  assert.deepEqual(made.get(STRICT), {
    name: "istio_converted_static_strict",
    namespace: ROOT,
    scope: 2,
    action: 1,
    groups: [{ rules: [{ matches: [plain] }] }],
  });
});

Deno.test("the nearest level that sets a mode decides, UNSET inherits, and DISABLE is no stricter than PERMISSIVE", () => {
  const cases: [ReturnType<typeof peer>[], boolean][] = [
    [[], false],
    [[mesh("STRICT")], true],
    [[mesh("STRICT"), shop("UNSET")], true],
    [[mesh("STRICT"), shop("PERMISSIVE")], false],
    [[mesh("STRICT"), shop("DISABLE")], false],
    [[mesh("DISABLE"), shop("STRICT")], true],
    [[mesh("STRICT"), ofCart(mtls("PERMISSIVE"))], false],
    [[shop("PERMISSIVE"), ofCart(mtls("STRICT"))], true],
    [[shop("STRICT"), ofCart(mtls("UNSET"))], true],
  ];
  for (const [objects, isStrict] of cases) {
    assert.equal(
      index(...objects).listed(cart),
      isStrict ? STRICT : undefined,
      JSON.stringify(objects.map((one) => one.spec)),
    );
  }
});

Deno.test("of several objects of a level the oldest counts", () => {
  assert.equal(index(mesh("PERMISSIVE", 2), mesh("STRICT", 1)).listed(cart), STRICT);
  assert.equal(index(shop("PERMISSIVE", 1), shop("STRICT", 2)).listed(cart), undefined);
  const young = peer({ name: "a", namespace: "shop", spec: { ...selecting("cart"), ...mtls("STRICT") }, created: 2 });
  assert.equal(index(ofCart(mtls("PERMISSIVE"), { created: 1 }), young).listed(cart), undefined);
});

Deno.test("strict ports of a workload that is not strict: a policy that refuses plain connections to each of them", () => {
  const made = index(ofCart({ ...mtls("PERMISSIVE"), ...ports({ 8080: "DISABLE", 9090: "STRICT", 443: "STRICT" }) }));
  assert.equal(made.listed(cart), PORTS);
  assert.equal(made.listed(other), undefined);
  assert.deepEqual(groupsOf(made, PORTS), [
    [[{ ...plain, destination_ports: [443] }]],
    [[{ ...plain, destination_ports: [9090] }]],
  ]);
});

Deno.test("open ports of a strict workload: a single policy that refuses plain connections to all other ports", () => {
  for (
    const objects of [
      [ofCart({ ...mtls("STRICT"), ...ports({ 80: "PERMISSIVE", 81: "DISABLE", 82: "STRICT" }) })],
      [mesh("STRICT"), ofCart(ports({ 80: "PERMISSIVE", 81: "DISABLE", 82: "UNSET" }))],
    ]
  ) {
    const made = index(...objects);
    assert.equal(made.listed(cart), PORTS);
    assert.deepEqual(groupsOf(made, PORTS), [[[plain], [{ not_destination_ports: [80] }], [{
      not_destination_ports: [81],
    }]]]);
  }
});

Deno.test("ports that are as strict as their workload make no policy", () => {
  const strict = index(mesh("STRICT"), ofCart(ports({ 80: "STRICT", 81: "UNSET" })));
  assert.deepEqual([[...strict.names()], strict.listed(cart)], [[STRICT], STRICT]);
  const open = index(ofCart(ports({ 80: "PERMISSIVE", 81: "DISABLE", 82: "UNSET" })));
  assert.deepEqual([[...open.names()], open.listed(cart)], [[STRICT], undefined]);
});

Deno.test("a change of the namespace or of the mesh converts the ports again, and names the namespaces of the workloads", () => {
  const made = index(ofCart(ports({ 80: "PERMISSIVE", 90: "STRICT" })));
  const strictPorts = [[[{ ...plain, destination_ports: [90] }]]];
  const openPorts = [[[plain], [{ not_destination_ports: [80] }]]];
  assert.deepEqual([groupsOf(made, PORTS), made.listed(cart)], [strictPorts, PORTS]);
  const steps: [() => ReturnType<typeof made.update>, object, string[], string[]][] = [
    [() => made.update([], [shop("STRICT")]), openPorts, [PORTS], ["shop"]],
    [() => made.update([shop("STRICT")], [shop("DISABLE")]), strictPorts, [PORTS], ["shop"]],
    [() => made.update([], [mesh("STRICT")]), strictPorts, [PORTS], ["*"]],
    [() => made.update([shop("DISABLE")], []), openPorts, [PORTS], ["shop"]],
    [() => made.update([mesh("STRICT")], []), strictPorts, [PORTS], ["*"]],
  ];
  for (const [change, groups, names, namespaces] of steps) {
    const effect = change();
    assert.deepEqual([[...effect.names].filter((name) => made.get(name)), [...effect.namespaces]], [names, namespaces]);
    assert.deepEqual(groupsOf(made, PORTS), groups);
    assert.equal(made.listed(cart), PORTS);
  }
});

Deno.test("an object that changes no mode of its namespace concerns no workload", () => {
  const made = index(mesh("STRICT", 1), shop("UNSET", 1));
  assert.deepEqual([...made.update([], [shop("PERMISSIVE", 2), mesh("DISABLE", 2)]).namespaces], []);
});
