/** Which Gateways are gateways into a network, with which address, port and account. */
import assert from "node:assert/strict";
import type { ConfigObject } from "../../../lib/config/types.ts";
import { gatewayAddress, networkGateways } from "../../../lib/ambient/networks/gateways.ts";
import { objectsOf } from "../support/world.ts";
import { gateway } from "./world.ts";

const IP = "{ type: IPAddress, value: 192.0.2.9 }";
const NAME = "{ type: Hostname, value: lb.example }";
const INSIDE = "{ type: Hostname, value: east.mesh-system.svc.cluster.local }";

function found(text: string, isOwn = true, controller?: string): string[] {
  const [object] = objectsOf(text) as ConfigObject<"ApiGateway">[];
  const cluster = { id: "c", isOwn, domain: "cluster.local" };
  return networkGateways(object!, controller, cluster).map(({ network, address, port, account }) =>
    `${network} ${address}:${port} ${account}`
  );
}

Deno.test("a Gateway of the remote class has its written addresses, IP addresses and names", () => {
  const to = "west";
  assert.deepEqual(found(gateway("g", { to, spec: `[${IP}, ${NAME}]` })), [
    "west 192.0.2.9:15008 g-istio-remote",
    "west lb.example:15008 g-istio-remote",
  ]);
  const own = gateway("g", { to, of: "mesh-remote", spec: `[${IP}]`, port: 15009 });
  assert.deepEqual(found(own), ["west 192.0.2.9:15009 g-mesh-remote"]);
  const account = "{ gateway.istio.io/service-account: door }";
  assert.deepEqual(found(gateway("g", { to, spec: `[${IP}]`, annotations: account })), ["west 192.0.2.9:15008 door"]);
  assert.deepEqual(
    found(gateway("g", { to, spec: `[${IP}]` }), false),
    [],
    "a remote cluster does not speak of others",
  );
});

Deno.test("a gateway between networks has the addresses of its status that other networks may reach", () => {
  const of = "istio-east-west";
  const text = gateway("g", { to: "west", of, spec: "[{ value: 192.0.2.1 }]", status: `[${IP}, ${NAME}, ${INSIDE}]` });
  for (const isOwn of [true, false]) {
    assert.deepEqual(found(text, isOwn), ["west 192.0.2.9:15008 g", "west lb.example:15008 g"]);
  }
  assert.deepEqual(found(text.replace("istio-east-west", "mesh-east-west")), found(text));
  assert.deepEqual(found(gateway("g", { to: "west", of, status: "[]" })), [], "it is not ready");
});

Deno.test("the controller of the class decides; without an object of the class its name does", () => {
  const text = gateway("g", { to: "west", of: "doors", spec: `[${IP}]`, status: "[{ value: 192.0.2.8 }]" });
  assert.deepEqual(found(text), []);
  assert.deepEqual(found(text, true, "mesh.io/unmanaged-gateway"), ["west 192.0.2.9:15008 g-doors"]);
  assert.deepEqual(found(text, true, "mesh.io/eastwest-controller"), ["west 192.0.2.8:15008 g"]);
  const renamed = gateway("g", { to: "west", spec: `[${IP}]` });
  assert.deepEqual(found(renamed, true, "other.example/controller"), []);
});

Deno.test("without a network or a listener for HBONE, and at odd addresses, there is no gateway", () => {
  assert.deepEqual(found(gateway("g", { to: "''", spec: `[${IP}]` })), []);
  assert.deepEqual(found(gateway("g", { to: "west", spec: `[${IP}]`, protocol: "HTTP" })), []);
  const odd =
    "[{ type: NamedAddress, value: a }, { type: IPAddress, value: a.example }, { type: 1, value: 192.0.2.1 }]";
  assert.deepEqual(found(gateway("g", { to: "west", of: "istio-east-west", status: odd })), []);
});

Deno.test("a workload names its gateway by address, or by name in the namespace of the Gateway", () => {
  const [byAddress, byName] = networkGateways(
    objectsOf(gateway("g", { to: "west", spec: `[${IP}, ${NAME}]` }))[0] as ConfigObject<"ApiGateway">,
    undefined,
    { id: "c", isOwn: true, domain: "cluster.local" },
  );
  assert.deepEqual(gatewayAddress(byAddress!), {
    address: { network: "west", address: Uint8Array.of(192, 0, 2, 9) },
    hbone_mtls_port: 15008,
  });
  assert.deepEqual(gatewayAddress(byName!), {
    hostname: { namespace: "mesh-system", hostname: "lb.example" },
    hbone_mtls_port: 15008,
  });
});
