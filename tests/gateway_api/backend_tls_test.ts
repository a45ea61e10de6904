import assert from "node:assert/strict";
import { formatFinding } from "../../lib/finding/finding.ts";
import { Authority, openssl } from "../certificates.ts";
import { BackendTlsWorld, policy, roots, service } from "./backend_tls_world.ts";
import { authorities } from "./running_listeners.ts";

const SYSTEM = { wellKnownCACertificates: "System" };
const named = (hostname: string, more: object = SYSTEM) => ({ hostname, ...more });
const tls = (world: BackendTlsWorld) =>
  Object.fromEntries(world.rules().map(({ spec }) => [spec.host, spec.internal?.backendTls]));
const entry = (sni: string, more: object = {}) => ({ ...more, sni, subjectAltNames: [sni] });
const HOST = "b.shop.svc.cluster.local";

Deno.test("the oldest policy of a service counts; of the same age, the first by name; a policy for a port goes before", () => {
  const world = new BackendTlsWorld(
    service("b", { web: 443, grpc: 444 }),
    policy("new", named("new.test"), ["b"], 2),
    policy("port", named("port.test"), ["b:web"], 3),
    policy("b-old", named("b-old.test"), ["b"], 1),
    policy("a-old", named("a-old.test"), ["b"], 1),
    policy("elsewhere", named("elsewhere.test"), ["b:nothing", "missing"]),
  );
  assert.deepEqual(tls(world), { [HOST]: [entry("a-old.test"), entry("port.test", { port: 443 })] });
  world.remove("BackendTLSPolicy/shop/a-old");
  assert.deepEqual(tls(world)[HOST]?.[0], entry("b-old.test"));
  world.put(service("missing", { web: 80 }));
  assert.deepEqual(tls(world)["missing.shop.svc.cluster.local"], [entry("elsewhere.test")]);
  world.remove("Service/shop/b");
  assert.deepEqual(Object.keys(tls(world)), ["missing.shop.svc.cluster.local"]);
});

Deno.test("names in the backend's certificate: the policy's alternative names, else the host name", () => {
  const subjectAltNames = [{ type: "URI", uri: "spiffe://a/b" }, { type: "Hostname", hostname: "other.test" }];
  const world = new BackendTlsWorld(
    service("b", { web: 443 }),
    policy("p", named("b.test", { ...SYSTEM, subjectAltNames }), ["b"]),
  );
  assert.deepEqual(tls(world)[HOST], [{ sni: "b.test", subjectAltNames: ["spiffe://a/b", "other.test"] }]);
});

Deno.test("placeholders for authorities close the backend, as the status says", () => {
  for (const text of ["${AUTHORITIES}", "{{ .Values.authorities }}", "ENC[AES256_GCM,data:abc]"]) {
    const world = new BackendTlsWorld(
      service("b", { web: 443 }),
      policy("p", named("b.test", roots("one")), ["b"]),
      authorities("shop", "one", text),
    );
    const closed = entry("b.test", { closed: "BackendTLSPolicy shop/p has no usable authority" });
    assert.deepEqual(tls(world)[HOST], [closed], text);
    assert.deepEqual(world.accepted("p"), ["False", "NoValidCACertificate"], text);
  }
});

Deno.test({
  name: "without a usable authority the backend is closed, until there is one; all usable ConfigMaps count",
  ignore: !openssl,
  async fn() {
    const authority = await Authority.make("test");
    await authority.remove();
    const closed = entry("b.test", { closed: "BackendTLSPolicy shop/p has no usable authority" });
    const world = new BackendTlsWorld(
      service("b", { web: 443 }),
      policy("p", named("b.test", roots("one", "two")), ["b"]),
    );
    assert.deepEqual(tls(world)[HOST], [closed]);
    world.put(authorities("shop", "one", "nothing"), authorities("elsewhere", "two", authority.certificate));
    assert.deepEqual(tls(world)[HOST], [closed]);
    world.put(authorities("shop", "two", authority.certificate));
    assert.deepEqual(tls(world)[HOST], [entry("b.test", { authorities: "configmap://shop/two" })]);
    world.put(authorities("shop", "one", authority.certificate));
    const both = "configmap://shop/one,configmap://shop/two";
    assert.deepEqual(tls(world)[HOST], [entry("b.test", { authorities: both })]);
    world.remove("ConfigMap/shop/one");
    world.remove("ConfigMap/shop/two");
    assert.deepEqual(tls(world)[HOST], [closed]);
    world.put(policy("p", named("b.test", { wellKnownCACertificates: "mine.example/all" }), ["b"]));
    assert.deepEqual(tls(world)[HOST], [closed]);
    const secret = { caCertificateRefs: [{ group: "", kind: "Secret", name: "two" }] };
    world.put(policy("p", named("b.test", secret), ["b"]));
    assert.deepEqual(tls(world)[HOST], [closed], "another kind of object");
  },
});

Deno.test("a host whose first label is `any` and a wildcard host both have their TLS", () => {
  const target = { group: "networking.istio.io", kind: "ServiceEntry", name: "outside" };
  const world = new BackendTlsWorld(policy("p", named("out.test"), [target]), {
    apiVersion: "networking.istio.io/v1",
    kind: "ServiceEntry",
    metadata: { name: "outside", namespace: "shop" },
    ...{ spec: { hosts: ["any.out.test", "*.out.test"], ports: [{ number: 443, name: "web", protocol: "HTTPS" }] } },
  });
  assert.deepEqual(tls(world), { "any.out.test": [entry("out.test")], "*.out.test": [entry("out.test")] });
});

Deno.test("a ServiceEntry as the target: every host of it", () => {
  const spec = {
    hosts: ["one.test", "*.two.test"],
    resolution: "STATIC",
    ports: [{ number: 443, name: "web", protocol: "TLS" }],
  };
  const target = { group: "networking.istio.io", kind: "ServiceEntry", name: "outside", sectionName: "web" };
  const world = new BackendTlsWorld(
    {
      apiVersion: "networking.istio.io/v1",
      kind: "ServiceEntry",
      metadata: { name: "outside", namespace: "shop" },
      ...{ spec },
    },
    policy("p", named("b.test"), [target]),
  );
  assert.deepEqual(tls(world), {
    "one.test": [entry("b.test", { port: 443 })],
    "*.two.test": [entry("b.test", { port: 443 })],
  });
});

Deno.test("of two services of a namespace with one host, the policies of the Service count, else of the first ServiceEntry by name", () => {
  const outside = (name: string) => ({
    apiVersion: "networking.istio.io/v1",
    kind: "ServiceEntry",
    metadata: { name, namespace: "shop" },
    spec: { hosts: [HOST], ports: [{ number: 443, name: "web", protocol: "TLS" }] },
  });
  const at = (name: string) => ({ group: "networking.istio.io", kind: "ServiceEntry", name });
  const world = new BackendTlsWorld(
    ...["a", "z"].map(outside),
    policy("at-a", named("a.test"), [at("a")], 3),
    policy("at-z", named("z.test"), [at("z")], 2),
  );
  const inForce = () => {
    const rules = world.store.list("DestinationRule").filter(({ spec }) => spec.internal !== undefined);
    return rules.map(({ spec }) => spec.internal?.backendTls?.map(({ sni }) => sni));
  };
  assert.deepEqual(inForce(), [["a.test"]]);
  assert.match(world.findings.map(formatFinding).join(), /shop\/at-z.* is there twice; .*shop\/at-a.* is used/);
  world.put(service("b", { web: 443 }), policy("at-service", named("b.test"), ["b"], 4));
  assert.deepEqual(inForce(), [["b.test"]]);
  for (const name of ["at-service", "at-a"]) world.remove(`BackendTLSPolicy/shop/${name}`);
  assert.deepEqual(inForce(), [["z.test"]]);
});
