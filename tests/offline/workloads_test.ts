/** The proxies implied by texts, and the proxy meant by a name. */
import assert from "node:assert/strict";
import { findProxy, NoSuchProxy } from "../../lib/offline/find_proxy.ts";
import { impliedProxies, proxiesOf } from "../../lib/offline/workloads.ts";
import { meshOf } from "./mesh_of.ts";

const options = { domain: "cluster.local", gatewaysInNamespace: false };
const head = (kind: string, namespace: string, name: string) =>
  `apiVersion: networking.mesh.io/v1\nkind: ${kind}\nmetadata: { name: ${name}, namespace: ${namespace} }\n`;
const entry = (spec: string) => `${head("ServiceEntry", "shop", "reviews")}spec: { hosts: [reviews.example], ${spec} }`;

function implied(...texts: string[]) {
  return impliedProxies(meshOf({ "a.yaml": texts.join("\n---\n") }).objects.values(), options);
}

function names(...texts: string[]): string[] {
  return implied(...texts).map(({ type, namespace, name, address }) => `${type} ${namespace}/${name} ${address}`);
}

Deno.test("endpoints of a service inside the mesh are workloads, told apart by version and position", () => {
  const spec = `location: MESH_INTERNAL, resolution: STATIC, ports: [{ number: 80, name: http }], endpoints: [
    { address: 10.0.0.1, labels: { version: v1 } }, { address: 10.0.0.2, labels: { version: v2 } },
    { address: 10.0.0.3, labels: { version: v2 } }]`;
  assert.deepEqual(names(entry(spec)), [
    "sidecar shop/reviews-v1 10.0.0.1",
    "sidecar shop/reviews-v2-1 10.0.0.2",
    "sidecar shop/reviews-v2-2 10.0.0.3",
  ]);
});

Deno.test("what is outside of the mesh has no proxy: one stands for its namespace", () => {
  const spec = "resolution: STATIC, ports: [{ number: 80, name: http }], endpoints: [{ address: 10.0.0.1 }]";
  assert.deepEqual(names(entry(spec)), ["sidecar shop/any-workload 192.0.2.1"]);
});

Deno.test("a workload that a Gateway selects is a gateway; a Gateway that selects no workload gets an implied gateway", () => {
  const gateway = (name: string) =>
    `${head("Gateway", "edge", name)}spec:
  selector: { app: ${name} }
  servers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: ["*"] }]`;
  const door = `${head("WorkloadEntry", "edge", "door-1")}spec: { address: 10.1.0.1, labels: { app: door } }`;
  assert.deepEqual(names(gateway("door"), gateway("back"), door), [
    "sidecar edge/any-workload 192.0.2.1",
    "router edge/back 192.0.2.1",
    "router edge/door-1 10.1.0.1",
  ]);
});

Deno.test("a proxy is meant by namespace/name, name.namespace, address or node id, or by its service", () => {
  const spec = `location: MESH_INTERNAL, resolution: STATIC, ports: [{ number: 80, name: http }], endpoints: [
    { address: 10.0.0.1, labels: { version: v1 } }, { address: 10.0.0.2, labels: { version: v2 } }]`;
  const proxies = implied(entry(spec));
  const found = (wanted: string) => findProxy(wanted, proxies, options);
  for (const wanted of ["shop/reviews-v2", "reviews-v2.shop", "10.0.0.2"]) {
    assert.equal(found(wanted).proxy.address, "10.0.0.2", wanted);
  }
  const byId = found("sidecar~10.0.0.2~reviews-v2.shop~shop.svc.cluster.local").proxy;
  assert.deepEqual([byId.address, byId.labels], ["10.0.0.2", { version: "v2" }]);
  assert.match(found("shop/reviews").note ?? "", /2 workloads; this is shop\/reviews-v1/);
  assert.match(found("shop/batch").note ?? "", /no text names the workload shop\/batch/);
});

Deno.test("a name that fits nothing is refused, with what it may have meant", () => {
  const proxies = implied(`${head("WorkloadEntry", "shop", "cart")}spec: { address: 10.0.0.5 }`);
  const refused = (wanted: string, message: RegExp) =>
    assert.throws(() => findProxy(wanted, proxies, options), (error) => {
      assert(error instanceof NoSuchProxy);
      assert.match(error.message, message);
      return true;
    });
  refused("shop/crat", /did you mean shop\/cart\?/);
  refused("elsewhere/thing", /no workload elsewhere\/thing; the workloads are shop\/cart/);
  refused("10.9.9.9", /no workload has the address 10\.9\.9\.9/);
  refused("", /expected namespace\/name/);
  refused("sidecar~x~cart~y", /address "x", expected an IP address/);
});

Deno.test("manifests name workloads: a Deployment is one, its pods are not others, and a pod may tell its address", () => {
  const template = "template: { metadata: { labels: { app: cart } }, spec: { containers: [{ name: c }] } }";
  const mesh = meshOf({
    "a.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: { name: cart, namespace: shop }
spec: { selector: { matchLabels: { app: cart } }, ${template} }
---
apiVersion: v1
kind: Pod
metadata: { name: alone, namespace: shop, labels: { app: alone } }
spec: { containers: [{ name: c }] }
status: { podIP: 10.0.0.8, podIPs: [{ ip: 10.0.0.8 }] }
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: { name: cart-1, namespace: shop, ownerReferences: [{ apiVersion: apps/v1, kind: Deployment, name: cart, uid: u, controller: true }] }
spec: { selector: { matchLabels: { app: cart } }, ${template} }`,
  });
  const { proxies, options } = proxiesOf(mesh);
  assert.deepEqual(proxies.map(({ name, address, labels }) => [name, address, labels]), [
    ["alone", "10.0.0.8", { app: "alone" }],
    ["cart", "192.0.2.1", { app: "cart" }],
  ]);
  assert.equal(findProxy("cart.shop", proxies, options).note, undefined);
});
