/**
 * The wanted status of Ingresses: addresses of the service or of nodes, only in case of a difference, and removed with
 * the objects.
 */
import assert from "node:assert/strict";
import { FactStore } from "../../lib/config/facts/store.ts";
import { defaultMeshConfig } from "../../lib/config/mesh/merge.ts";
import type { MeshConfig } from "../../lib/config/mesh/types.ts";
import { IngressStatuses } from "../../lib/ingress/status.ts";
import { fact, type Manifest } from "./world.ts";

const API = { from: "api", source: "c", uid: "1" } as const;
const DEFAULTS = defaultMeshConfig({ systemNamespace: "mesh-system" });
const core = { apiVersion: "v1" } as const;

function ingress(name: string, addresses: readonly object[] = [], className = "mesh"): Manifest {
  const metadata = { name, namespace: "shop", annotations: { "kubernetes.io/ingress.class": className } };
  const spec = { defaultBackend: { service: { name: "web", port: { number: 80 } } } };
  const status = { loadBalancer: { ingress: addresses } };
  return { apiVersion: "networking.k8s.io/v1", kind: "Ingress", metadata, spec, status } as Manifest;
}

function service(spec: object, balancers: readonly object[] = [], name = "mesh-ingressgateway"): Manifest {
  const status = { loadBalancer: { ingress: balancers } };
  return { ...core, kind: "Service", metadata: { name, namespace: "mesh-system" }, spec, status } as Manifest;
}

const node = (name: string, ...addresses: readonly string[]): Manifest => ({
  ...{ ...core, kind: "Node", metadata: { name } },
  status: { addresses: addresses.map((address) => ({ type: "ExternalIP", address })) },
} as Manifest);

const pod = (name: string, nodeName: string, phase: string, labels: object): Manifest => ({
  ...{ ...core, kind: "Pod", metadata: { name, namespace: "mesh-system", labels } },
  spec: { containers: [], nodeName },
  status: { phase },
} as Manifest);

class World {
  readonly facts = new FactStore();
  readonly #source = this.facts.addSource("c", 0);
  readonly statuses: IngressStatuses;
  readonly changes: string[] = [];

  constructor(mesh: Partial<MeshConfig>, ...manifests: readonly Manifest[]) {
    this.put(...manifests);
    const isOurs = ({ meta }: { readonly meta: { readonly name: string } }) => meta.name !== "others";
    this.statuses = new IngressStatuses({
      ...{ facts: this.facts, mesh: { ...DEFAULTS, ...mesh }, namespace: "mesh-system", isOurs },
    });
    this.statuses.onChange((keys) => this.changes.push(...keys));
  }

  put(...manifests: readonly Manifest[]): void {
    this.#source.apply({ upserted: manifests.map((one) => fact(one, API)), removed: [] });
  }

  wanted(name: string): unknown {
    return this.statuses.wanted(`Ingress/shop/${name}`);
  }
}

const balanced = service({ type: "LoadBalancer", externalIPs: ["198.51.100.7"] }, [
  { ip: "203.0.113.9" },
  { hostname: "edge.example.com" },
  { ip: "198.51.100.7" },
]);
const ALL = [{ ip: "198.51.100.7" }, { ip: "203.0.113.9" }, { hostname: "edge.example.com" }];

Deno.test("a status has the addresses of the load balancer and the external addresses, each once, host names last", () => {
  assert.deepEqual(new World({}, balanced, ingress("web")).wanted("web"), ALL);
});

/** An Ingress by the object of a class. */
function classed(name: string, className: string, addresses: readonly object[] = []): Manifest {
  const one = ingress(name, addresses);
  return {
    ...one,
    metadata: { name, namespace: "shop" },
    spec: { ...(one as { spec: object }).spec, ingressClassName: className },
  } as Manifest;
}

const classOf = (name: string, controller: string): Manifest =>
  ({ apiVersion: "networking.k8s.io/v1", kind: "IngressClass", metadata: { name }, spec: { controller } }) as Manifest;

Deno.test("of a class in Istio's spelling, addresses that Istio's control plane wrote stay; an empty status and one of ours are written", () => {
  const theirs = [{ ip: "192.0.2.1" }];
  const istio = classOf("istio", "istio.io/ingress-controller");
  const world = new World({}, balanced, istio, classOf("mesh", "mesh.io/ingress-controller"));
  world.put(classed("theirs", "istio", theirs), classed("empty", "istio"), classed("ours", "mesh", theirs));
  assert.equal(world.wanted("theirs"), undefined);
  assert.deepEqual(world.wanted("empty"), ALL);
  assert.deepEqual(world.wanted("ours"), ALL, "of our own class the status is ours");
  // Our gateway gets another address: the status with the earlier address is still ours.
  world.put(classed("empty", "istio", ALL));
  world.put(service({ type: "LoadBalancer" }, [{ ip: "203.0.113.10" }]));
  assert.deepEqual(world.wanted("empty"), [{ ip: "203.0.113.10" }]);
  assert.equal(world.wanted("theirs"), undefined);
});

Deno.test("without a gateway of ours, Istio's addresses are not emptied", () => {
  const istio = classOf("istio", "istio.io/ingress-controller");
  const world = new World({}, istio, classed("theirs", "istio", [{ ip: "192.0.2.1" }]));
  assert.equal(world.wanted("theirs"), undefined);
});

Deno.test("an external name is the one address of a service of that type", () => {
  const world = new World({}, service({ type: "ExternalName", externalName: "edge.test" }), ingress("web"));
  assert.deepEqual(world.wanted("web"), [{ hostname: "edge.test" }]);
});

Deno.test("without ingressService it says the external addresses of the nodes of the gateway's running pods", () => {
  const labels = { mesh: "edge" };
  const world = new World(
    { ingressService: "", ingressSelector: "edge" },
    ...[node("a", "203.0.113.1", "2001:db8::1"), node("b", "203.0.113.2"), node("c", "203.0.113.3"), node("d")],
    pod("one", "a", "Running", labels),
    pod("two", "b", "Pending", labels),
    pod("three", "c", "Running", { mesh: "other" }),
    pod("four", "d", "Running", labels),
    ...[node("e", "203.0.113.5"), pod("istios", "e", "Running", { istio: "edge" })],
    ingress("web"),
  );
  assert.deepEqual(world.wanted("web"), [{ ip: "2001:db8::1" }, { ip: "203.0.113.1" }, { ip: "203.0.113.5" }]);
  world.put(pod("two", "b", "Running", labels));
  const all = ["2001:db8::1", "203.0.113.1", "203.0.113.2", "203.0.113.5"].map((ip) => ({ ip }));
  assert.deepEqual(world.wanted("web"), all);
});

Deno.test("nothing is written if the status has the addresses already, in any order, or if another revision writes it", () => {
  const world = new World({}, balanced, ingress("web", ALL.toReversed()), ingress("others"), ingress("new"));
  assert.deepEqual(world.statuses.pending(), ["Ingress/shop/new"]);
});

Deno.test("an Ingress that leaves the class loses the addresses in its status, unless another controller has written its own addresses since", () => {
  const world = new World({}, balanced, ingress("a", ALL), ingress("b", ALL), ingress("c", [{ ip: "192.0.2.1" }]));
  for (const name of ["a", "b"]) world.put(ingress(name, ALL, "nginx"));
  world.put(ingress("c", [{ ip: "192.0.2.1" }], "nginx"));
  assert.deepEqual(world.wanted("a"), []);
  world.put(ingress("b", [{ ip: "192.0.2.1" }], "nginx"));
  assert.equal(world.wanted("b"), undefined);
  assert.equal(world.wanted("c"), undefined, "what was never ours is not touched");
  world.put(ingress("a", [], "nginx"));
  assert.equal(world.wanted("a"), undefined);
  world.put(ingress("a", [], "mesh"));
  assert.deepEqual(world.wanted("a"), ALL, "it is back");
});

Deno.test("when the mesh serves Ingresses no more, or by a service that is not there, their status is emptied", () => {
  const world = new World({}, balanced, ingress("web", ALL));
  world.statuses.meshChanged({ ...DEFAULTS, ingressService: "absent" });
  assert.deepEqual(world.wanted("web"), []);
  world.statuses.meshChanged({ ...DEFAULTS, ingressControllerMode: "OFF" });
  assert.deepEqual(world.wanted("web"), []);
  world.statuses.meshChanged(DEFAULTS);
  assert.equal(world.wanted("web"), undefined);
});

Deno.test("a change names the Ingresses that it may affect: an edited Ingress, all Ingresses if the address changes, otherwise none", () => {
  const world = new World({}, balanced, ingress("a", ALL), ingress("b", ALL));
  world.put(ingress("a"));
  assert.deepEqual(world.changes.splice(0), ["Ingress/shop/a"]);
  world.put(service({}, [], "another"), node("n", "203.0.113.1"), pod("p", "n", "Running", { mesh: "ingressgateway" }));
  world.statuses.meshChanged({ ...DEFAULTS, accessLogFile: "/dev/stdout" });
  assert.deepEqual(world.changes, []);
  world.put(service({}, [{ ip: "203.0.113.8" }]));
  assert.deepEqual(world.changes, ["Ingress/shop/a", "Ingress/shop/b"]);
});
