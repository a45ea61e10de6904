/** Facts are read from the JSON of an API, and a secret's data is printed by nothing. */
import assert from "node:assert/strict";
import { inspect } from "node:util";
import { ConcealedBytes } from "../../../lib/config/facts/concealed.ts";
import { readFact } from "../../../lib/config/facts/read.ts";
import { FactStore } from "../../../lib/config/facts/store.ts";
import type { AnyFact, FactKind } from "../../../lib/config/facts/types.ts";
import { formatFinding } from "../../../lib/finding/finding.ts";
import type { ApiOrigin } from "../../../lib/finding/origin.ts";

const API: ApiOrigin = { from: "api", source: "cluster-1", uid: "7c0f" };
const OPTIONS = { digestKey: new Uint8Array(32).fill(7) };
const PASSWORD = "correct horse battery staple";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function read(kind: FactKind, tree: Record<string, unknown>): AnyFact {
  const { fact, findings } = readFact(kind, { metadata: { name: "a", namespace: "x" }, ...tree }, API, OPTIONS);
  assert.ok(fact !== undefined, findings.map(formatFinding).join());
  return fact;
}

const encoded = new TextEncoder().encode(PASSWORD).toBase64();
const secretTree = {
  type: "orch.io/basic-auth",
  metadata: {
    name: "a",
    namespace: "x",
    annotations: {
      "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify({ data: { password: encoded } }),
      "networking.istio.io/x": "kept",
      "example.com/copy": encoded,
    },
  },
  data: { password: encoded },
};

test("a service has ports, addresses and load balancers, other fields are passed over", () => {
  const fact = read("Service", {
    metadata: { name: "web", namespace: "x", uid: "7c0f", labels: { "istio.io/rev": "r" }, managedFields: [{}] },
    spec: {
      clusterIP: "10.0.0.9",
      selector: { app: "web" },
      ports: [{ port: 80, targetPort: "http", name: "http" }, { port: 53, protocol: "UDP", nodePort: 30053 }],
      sessionAffinity: "None",
    },
    status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }, { hostname: "lb.example.com" }] } },
  });
  assert.equal(fact.key, "Service/x/web");
  assert.deepEqual(fact.meta.labels, { "mesh.io/rev": "r" });
  assert.deepEqual(fact.spec, {
    type: "ClusterIP",
    clusterIPs: ["10.0.0.9"],
    externalIPs: [],
    selector: { app: "web" },
    ports: [
      { name: "http", port: 80, protocol: "TCP", targetPort: "http" },
      { name: "", port: 53, protocol: "UDP", nodePort: 30053 },
    ],
    loadBalancers: ["192.0.2.1", "lb.example.com"],
  });
});

test("the selector of a service has the spelling of the pods' labels, as an API server and as a person writes it", () => {
  const labels = { "service.istio.io/canonical-name": "web", "security.istio.io/tlsMode": "istio", app: "web" };
  const own = { "service.mesh.io/canonical-name": "web", "security.mesh.io/tlsMode": "mesh", app: "web" };
  const metadata = { name: "web", namespace: "x", labels };
  const specOf = (kind: "Pod" | "Service", spec: object) =>
    read(kind, { metadata, spec }).spec as { readonly labels?: object; readonly selector?: object };
  const written = { selector: labels, ports: [{ port: 80 }] };
  assert.deepEqual(specOf("Pod", { containers: [] }).labels, own);
  assert.deepEqual(specOf("Service", written).selector, own);
  assert.deepEqual(specOf("Service", { ...written, clusterIPs: null }).selector, own, "as only the schema reads it");
});

test("namespaces have no contents, config maps have text and bytes", () => {
  const namespace = readFact(
    "Namespace",
    { metadata: { name: "x", labels: { "istio-injection": "enabled" } } },
    API,
    OPTIONS,
  );
  assert.deepEqual([namespace.fact?.key, namespace.fact?.meta.labels], ["Namespace//x", {
    "mesh-injection": "enabled",
  }]);
  const map = read("ConfigMap", { data: { mesh: "a: b" }, binaryData: { raw: "AAE=" } });
  assert.deepEqual(map.spec, { data: { mesh: "a: b" }, binaryData: { raw: new Uint8Array([0, 1]) } });
});

test("all mistakes are named at once with field, value and expectation, and the fact is left out", () => {
  const { fact, findings } = readFact(
    "Service",
    { metadata: { name: "a", namespace: "x" }, spec: { ports: [{ port: "http" }, { port: 80, name: 5 }] } },
    API,
    OPTIONS,
  );
  assert.equal(fact, undefined);
  assert.deepEqual(findings.map(formatFinding), [
    'cluster-1 (uid 7c0f) Service x/a: error: spec.ports[0].port: "http", expected an integer',
    "cluster-1 (uid 7c0f) Service x/a: error: spec.ports[1].name: 5, expected a string",
  ]);
  assert.equal(readFact("Secret", "no object", API, OPTIONS).findings.length, 1);
});

test("nothing that prints a secret, or a finding about one, shows its data", () => {
  const fact = read("Secret", secretTree);
  assert.ok(fact.kind === "Secret");
  assert.equal(new TextDecoder().decode(fact.spec.data["password"]?.reveal()), PASSWORD);
  assert.deepEqual(fact.meta.annotations, { "networking.mesh.io/x": "kept" }, "copies of the object go");
  const broken = readFact("Secret", { ...secretTree, data: { password: `${encoded}!` } }, API, OPTIONS);
  assert.equal(broken.fact, undefined);
  const concealed = fact.spec.data["password"]!;
  const printed = [
    JSON.stringify(fact),
    JSON.stringify({ deep: [{ concealed }] }),
    `${concealed}`,
    String(concealed),
    Deno.inspect(fact, { depth: 10, showHidden: true, getters: true }),
    inspect(fact, { depth: 10, showHidden: true, getters: true }),
    JSON.stringify(structuredClone({ concealed })),
    JSON.stringify(Object.entries(concealed)),
    JSON.stringify(Reflect.ownKeys(concealed).map((key) => Reflect.get(concealed, key))),
    JSON.stringify({ ...concealed }),
    broken.findings.map(formatFinding).join("\n"),
    JSON.stringify(broken.findings),
  ];
  for (const text of printed) {
    for (const form of [PASSWORD, encoded, new TextEncoder().encode(PASSWORD).join(), "99, 111, 114, 114"]) {
      assert.ok(!text.includes(form), text);
    }
  }
  assert.match(JSON.stringify(fact), /"password":"\[concealed\]"/);
  assert.match(broken.findings.map(formatFinding).join(), /data\.password: "\[concealed\]", expected base64 text/);
});

test("two versions of a secret differ by a hash that needs the key of this process", () => {
  const hash = (data: string, digestKey = OPTIONS.digestKey) =>
    readFact("Secret", { ...secretTree, data: { password: data } }, API, { digestKey }).fact?.hash;
  assert.equal(hash(encoded), hash(encoded));
  assert.notEqual(hash(encoded), hash("AAE="));
  assert.notEqual(hash(encoded), hash(encoded, new Uint8Array(32).fill(8)));
  const [one, two] = [new ConcealedBytes(new Uint8Array([1])), new ConcealedBytes(new Uint8Array([1]))];
  assert.ok(one.equals(two) && !one.equals(new ConcealedBytes(new Uint8Array([2]))));
});

test("facts lie in a store of their own, by kind, namespace and name", () => {
  const store = new FactStore();
  const api = store.addSource("cluster-1", 0);
  const [secret, service] = [read("Secret", secretTree), read("Service", { spec: {} })];
  const { added } = api.apply({ upserted: [secret, service], removed: [] });
  assert.equal(added.length, 2);
  assert.equal(store.get("Secret", "x", "a")?.spec.type, "orch.io/basic-auth");
  assert.deepEqual(store.list("Service", "x"), [service]);
  assert.equal(api.apply({ upserted: [], removed: ["Secret/x/a"] }).removed[0], secret);
});

test("an object with more values than anybody writes is refused before it is checked", () => {
  const ports = Array.from({ length: 60_000 }, () => ({ port: "x" }));
  const { fact, findings } = readFact("Service", { metadata: { name: "a" }, spec: { ports } }, API, OPTIONS);
  assert.equal(fact, undefined);
  assert.match(findings.map(formatFinding).join(), /document: "more than 50000 values", expected fewer/);
  assert.equal(findings.length, 1);
});
