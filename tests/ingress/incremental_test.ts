/** Objects made from Ingresses follow every change, at the cost of the affected objects, independent of the order. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { fact, IngressWorld, type Manifest } from "./world.ts";

interface Draft {
  readonly name: string;
  readonly host: string;
  readonly path?: string;
  readonly port?: number | string;
  readonly day?: number;
  readonly secret?: string;
  readonly className?: string;
}

function ingress({ name, host, path = "/", port = 80, day = 1, secret, className }: Draft): Manifest {
  const backend = { service: { name: "web", port: typeof port === "number" ? { number: port } : { name: port } } };
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name, namespace: "shop", creationTimestamp: `2026-01-0${day}T00:00:00Z` },
    spec: {
      ...(className === undefined ? {} : { ingressClassName: className }),
      tls: secret === undefined ? [] : [{ hosts: [host], secretName: secret }],
      rules: [{ host, http: { paths: [{ path, pathType: "Prefix", backend }] } }],
    },
  };
}

function service(port: number): Manifest {
  const spec = { clusterIP: "10.0.0.1", ports: [{ name: "http", port }] };
  return { apiVersion: "v1", kind: "Service", metadata: { name: "web", namespace: "shop" }, spec };
}

const classNamed = (controller: string): Manifest => ({
  ...{ apiVersion: "networking.k8s.io/v1", kind: "IngressClass", metadata: { name: "c" }, spec: { controller } },
});

function world(...drafts: readonly Draft[]): IngressWorld {
  const made = new IngressWorld({ ingressControllerMode: "DEFAULT" });
  made.put(...drafts.map((draft) => fact(ingress(draft))));
  made.derived.length = 0;
  return made;
}

const MANY = Array.from({ length: 50 }, (_, at): Draft => ({ name: `i-${at}`, host: `h-${at}.test` }));

Deno.test("of 50 Ingresses an edited Ingress derives only itself and its former and present hosts", () => {
  const one = world(...MANY);
  one.put(fact(ingress({ name: "i-7", host: "h-7.test", path: "/new" })));
  assert.deepEqual(one.derived.splice(0).sort(), ["Ingress/shop/i-7", "h-7.test"]);
  one.put(fact(ingress({ name: "i-7", host: "h-8.test", path: "/new" })));
  assert.deepEqual(one.derived.splice(0).sort(), ["Ingress/shop/i-7", "h-8.test"]);
  assert.equal(one.store.list("VirtualService").length, 49);
  one.remove("Ingress/shop/i-8");
  assert.deepEqual(one.derived, ["h-8.test"]);
});

Deno.test("a service with a changed port changes the routes that name the port, and derives no other routes", () => {
  const one = world({ name: "named", host: "a.test", port: "http" }, { name: "numbered", host: "b.test" });
  const ports = () =>
    one.store.list("VirtualService").map(({ spec }) => {
      const [rule] = spec.http ?? [];
      return rule?.directResponse?.status ?? rule?.route?.[0]?.destination.port?.number;
    });
  assert.deepEqual(ports(), [503, 80]);
  one.put(fact(service(8080)));
  assert.deepEqual(ports(), [8080, 80]);
  one.put(fact(service(9090)));
  assert.deepEqual(ports(), [9090, 80]);
  assert.deepEqual(one.derived, ["a.test", "a.test"]);
  one.remove("Service/shop/web");
  assert.deepEqual(ports(), [503, 80]);
});

Deno.test("a class that changes hands moves its Ingresses, and no others", () => {
  const one = world({ name: "a", host: "a.test", className: "c" }, { name: "b", host: "b.test", className: "d" });
  one.put(fact(classNamed("example.com/other")));
  assert.deepEqual(one.derived.splice(0).sort(), ["Ingress/shop/a", "a.test"]);
  assert.equal(one.store.list("Gateway").length, 1);
  one.put(fact(classNamed("mesh.io/ingress-controller")));
  assert.equal(one.store.list("Gateway").length, 2);
});

Deno.test("a field of the mesh configuration that Ingresses are not served by derives nothing", () => {
  const one = world(...MANY);
  one.mesh({ ingressControllerMode: "DEFAULT", accessLogFile: "/dev/stdout" });
  assert.deepEqual(one.derived, []);
  one.mesh({ ingressControllerMode: "DEFAULT", accessLogFile: "/dev/stdout", ingressSelector: "edge" });
  assert.equal(one.derived.length, 50, "the gateways alone");
  one.mesh({ ingressControllerMode: "OFF" });
  assert.deepEqual(one.objects(), []);
});

Deno.test("the host of an Ingress that goes is its namesakes' from then on", () => {
  const one = world({ name: "old", host: "a.test", path: "/old", day: 1 }, { name: "young", host: "a.test", day: 2 });
  const [before] = one.store.list("VirtualService");
  one.remove("Ingress/shop/old");
  const [after] = one.store.list("VirtualService");
  assert.match(before?.meta.name ?? "", /^a-test-old-/);
  assert.match(after?.meta.name ?? "", /^a-test-young-/);
  assert.equal(after?.spec.http?.length, 1);
});

Deno.test("an Ingress that cannot be read as one leaves the others of its host as they are", () => {
  const one = world({ name: "good", host: "a.test" });
  const before = JSON.stringify(one.store.list("VirtualService").map(({ spec }) => spec.http));
  one.put(fact({ ...ingress({ name: "bad", host: "a.test", path: "no slash?", port: 99999, secret: "../x" }) }));
  assert.equal(JSON.stringify(one.store.list("VirtualService").map(({ spec }) => spec.http)), before);
  assert.deepEqual(one.findings, []);
});

const draft: fc.Arbitrary<Draft> = fc.record({
  name: fc.constantFrom("a", "b", "c"),
  host: fc.constantFrom("x.test", "y.test", "*.test", ""),
  path: fc.constantFrom("/", "/a", "/a/", "/b"),
  port: fc.constantFrom<number | string>(80, "http"),
  day: fc.constantFrom(1, 2),
}, { requiredKeys: ["name", "host", "path", "port", "day"] });

const step = fc.oneof(
  draft.map((one) => (w: IngressWorld) => w.put(fact(ingress(one)))),
  fc.constantFrom("a", "b", "c").map((name) => (w: IngressWorld) => w.remove(`Ingress/shop/${name}`)),
  fc.constantFrom(80, 81).map((port) => (w: IngressWorld) => w.put(fact(service(port)))),
  fc.constantFrom("DEFAULT", "STRICT").map((mode) => (w: IngressWorld) => w.mesh({ ingressControllerMode: mode })),
);

Deno.test("after any changes the objects equal the objects of a fresh start", () => {
  fc.assert(fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
    const changed = new IngressWorld();
    for (const change of steps) change(changed);
    const fresh = new IngressWorld();
    fresh.mesh({ ingressControllerMode: changed.mode });
    fresh.put(...[...changed.facts.list("Ingress"), ...changed.facts.list("Service")].map((one) => one as never));
    assert.deepEqual(changed.objects(), fresh.objects());
  }));
});
