/** Services in the role of gateways of networks. */
import assert from "node:assert/strict";
import type { OrchRegistryOptions } from "../../../lib/registry/orch/options.ts";
import { cluster, object, service } from "./cluster.ts";

const LABEL = { "topology.istio.io/network": "n1" };
const tls = { name: "tls", port: 15443, targetPort: 15443, nodePort: 30443, protocol: "TCP" };

/** A service of a load balancer. */
function balanced(metadata: Record<string, unknown> = {}, ingress: unknown[] = [{ ip: "192.0.2.1" }], spec = {}) {
  return object("Service", "gw", {
    metadata: { labels: LABEL, ...metadata },
    spec: { type: "LoadBalancer", clusterIP: "10.96.0.2", ports: [tls], ...spec },
    status: { loadBalancer: { ingress } },
  });
}

const node = (name: string, address: string, labels: Record<string, string> = {}, type = "ExternalIP") =>
  object("Node", name, { metadata: { labels }, status: { addresses: [{ type, address }] } });

function started(objects: Parameters<typeof cluster>[0], options: Partial<OrchRegistryOptions> = {}) {
  const { registry, sink } = cluster(objects, options);
  const entrances = () =>
    sink.state.networks.flatMap((known) => known.entrances.map((e) => `${e.network} ${e.address}:${e.port}`));
  return { registry, sink, entrances };
}

Deno.test("a service with the label of a network is its gateway, at the addresses of its load balancer", () => {
  const { registry, sink, entrances } = started([
    balanced({}, [{ ip: "192.0.2.1" }, { hostname: "lb.example.com" }], { externalIPs: ["192.0.2.7"] }),
    service("cart"),
  ]);
  assert.deepEqual(entrances(), ["n1 192.0.2.1:15443", "n1 lb.example.com:15443", "n1 192.0.2.7:15443"]);
  const known = sink.state.networks[0];
  registry.apply([service("other")], []);
  assert.equal(sink.state.networks[0], known, "another service is no news of networks");
  registry.apply([balanced({}, [])], []);
  assert.deepEqual(entrances(), [], "the balancer has no address yet");
  registry.apply([balanced({ labels: {} })], []);
  assert.deepEqual(entrances(), []);
});

Deno.test("a service that is deployed for a gateway between networks takes HBONE, whatever port its label names", () => {
  const labels = {
    ...LABEL,
    "gateway.mesh.io/managed": "mesh.io-eastwest-controller",
    "networking.mesh.io/gatewayPort": "443",
  };
  const { sink } = started([balanced({ labels })]);
  const expected = [{ network: "n1", address: "192.0.2.1", port: 15008, hbone: true }];
  assert.deepEqual(sink.state.networks.flatMap(({ entrances }) => entrances), expected);
});

Deno.test("the label of the port counts where it is a port", () => {
  const port = (value: string) =>
    started([balanced({ labels: { ...LABEL, "networking.mesh.io/gatewayPort": value } })]).entrances();
  assert.deepEqual(port("443"), ["n1 192.0.2.1:443"]);
  for (const wrong of ["", "x", "0", "70000", "1.5"]) assert.deepEqual(port(wrong), ["n1 192.0.2.1:15443"], wrong);
});

Deno.test("a gateway of node ports is at the external addresses of the nodes that its annotation chooses, and follows them", () => {
  const gateway = (annotations: Record<string, string>) =>
    object("Service", "gw", {
      metadata: { labels: LABEL, annotations },
      spec: { type: "NodePort", clusterIP: "10.96.0.2", ports: [tls] },
    });
  const chosen = (text: string) => gateway({ "traffic.istio.io/nodeSelector": text });
  const { registry, entrances } = started([
    chosen('{"edge":"yes"}'),
    node("a", "192.0.2.1", { edge: "yes" }),
    node("b", "192.0.2.2"),
    node("c", "10.0.0.3", { edge: "yes" }, "InternalIP"),
  ]);
  assert.deepEqual(entrances(), ["n1 192.0.2.1:30443"]);
  registry.apply([node("b", "192.0.2.2", { edge: "yes" })], []);
  assert.deepEqual(entrances(), ["n1 192.0.2.1:30443", "n1 192.0.2.2:30443"]);
  registry.apply([], ["Node//a"]);
  assert.deepEqual(entrances(), ["n1 192.0.2.2:30443"]);
  for (const wrong of ["{", "[1]", '{"edge":1}', "null"]) {
    registry.apply([chosen(wrong)], []);
    assert.deepEqual(entrances(), [], wrong);
  }
  registry.apply([chosen("{}")], []);
  assert.deepEqual(entrances(), ["n1 192.0.2.2:30443"], "no labels choose every node");
  registry.apply([gateway({})], []);
  assert.deepEqual(entrances(), [], "without the annotation nobody says that nodes take such connections");
});

Deno.test("the mesh networks may name the service instead, and its own label comes first", () => {
  const namedGateways = (host: string) => host === "gw.shop.svc.cluster.local" ? [{ network: "n9", port: 443 }] : [];
  assert.deepEqual(started([balanced({ labels: {} })], { namedGateways }).entrances(), ["n9 192.0.2.1:443"]);
  assert.deepEqual(started([balanced()], { namedGateways }).entrances(), ["n1 192.0.2.1:15443"]);
});

Deno.test("the system namespace names the network of the cluster", () => {
  const system = (labels: Record<string, string>) => object("Namespace", "mesh-system", { metadata: { labels } });
  const { registry, sink } = started([system(LABEL)]);
  const network = () => sink.state.networks[0]?.network;
  assert.equal(network(), "n1");
  registry.apply([system({})], []);
  assert.equal(network(), "");
});
