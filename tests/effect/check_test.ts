/** Parts reaching no proxy, as `check` tells of texts. */
import assert from "node:assert/strict";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { checkMesh } from "../../lib/offline/check/check.ts";
import { meshOf } from "../offline/mesh_of.ts";

function check(text: string, assumeServices = false) {
  return unpaced(checkMesh(meshOf({ "mesh.yaml": text }), { assumeServices, textOf: () => text })).findings;
}

/** The reported parts: object, field, line. */
function unused(text: string): string[] {
  return check(text).filter(({ name }) => name === "reaches-no-proxy").map(({ place: { objects: [object], field } }) =>
    `${object?.kind} ${object?.name}${field === "" ? "" : ` ${field}`}`
  );
}

function object(kind: string, name: string, spec: string, group = "networking.mesh.io/v1"): string {
  return `---\napiVersion: ${group}\nkind: ${kind}\nmetadata: { name: ${name}, namespace: shop }\nspec: ${spec}\n`;
}

const CLIENT = object("WorkloadEntry", "web", "{ address: 10.9.0.2, labels: { app: web } }");

function service(name: string, port: number, protocol = "HTTP"): string {
  return object(
    "ServiceEntry",
    name,
    `{ hosts: [${name}.example.com], location: MESH_INTERNAL, addresses: [10.8.0.${name.length}], resolution: STATIC,
    ports: [{ number: ${port}, name: p, protocol: ${protocol} }], endpoints: [{ address: 10.9.1.${name.length}, labels: { version: v1 } }] }`,
  );
}

function route(name: string, host: string, rules: string, more = ""): string {
  return object("VirtualService", name, `{ hosts: [${host}], ${more} ${rules} }`);
}

const TO_CART = "route: [{ destination: { host: cart.example.com } }]";
const CART = CLIENT + service("cart", 8000);
const DOOR = object(
  "Gateway",
  "door",
  `{ selector: { app: door }, servers: [{ port: { number: 5432, name: pg, protocol: TCP }, hosts: ["*.db.test"] },
  { port: { number: 80, name: http, protocol: HTTP }, hosts: ["*.db.test"] }] }`,
);

function aged(name: string, year: number, spec: string): string {
  return object("ServiceEntry", name, spec).replace(
    `name: ${name},`,
    `name: ${name}, creationTimestamp: "${year}-01-01T00:00:00Z",`,
  );
}

const STATIC = (address: string) =>
  `{ hosts: [two.test], ports: [{ number: 80, name: p, protocol: HTTP }], resolution: STATIC, endpoints: [{ address: ${address} }] }`;

function sidecar(egress: string): string {
  return object("Sidecar", "web", `\n  workloadSelector: { labels: { app: web } }\n  egress:\n  ${egress}`);
}

function telemetry(name: string, labels: string, spec: string): string {
  const selector = labels === "" ? "" : `selector: { matchLabels: { ${labels} } },`;
  return object("Telemetry", name, `{ ${selector} ${spec} }`, "telemetry.mesh.io/v1");
}

const logs = (filter: string) =>
  `accessLogging: [{ providers: [{ name: envoy }], filter: { expression: "${filter}" } }]`;

/** Texts, and their parts reaching no proxy. */
const CASES: Readonly<Record<string, readonly [text: string, parts: readonly string[]]>> = {
  "a host that no service has, where nothing listens on port 80": [
    CART + route("front", "front.test", `http: [{ ${TO_CART} }]`),
    ["VirtualService front"],
  ],
  "the same where something listens on port 80: none": [
    CART + service("other", 80) + route("front", "front.test", `http: [{ ${TO_CART} }]`),
    [],
  ],
  "a rule for a port that the service lacks": [
    CART + route("cart", "cart.example.com", `http: [{ match: [{ port: 9999 }], ${TO_CART} }, { ${TO_CART} }]`),
    ["VirtualService cart spec.http[0]"],
  ],
  "a match for a port that the service lacks, beside one that it has": [
    CART +
    route("cart", "cart.example.com", `http: [{ match: [{ port: 9999 }, { port: 8000 }], ${TO_CART} }]`),
    ["VirtualService cart spec.http[0].match[0]"],
  ],
  "tcp rules for a port that carries requests": [
    CART + route("cart", "cart.example.com", `tcp: [{ ${TO_CART} }]`),
    ["VirtualService cart"],
  ],
  "http rules for a port that carries bytes": [
    CLIENT + service("cart", 8000, "TCP") + route("cart", "cart.example.com", `http: [{ ${TO_CART} }]`),
    ["VirtualService cart"],
  ],
  "tls rules for a host that no service has": [
    CART + route("front", "front.test", `tls: [{ match: [{ sniHosts: [front.test] }], ${TO_CART} }]`),
    ["VirtualService front"],
  ],
  "a rule for clients that are not there: nothing is known": [
    CART +
    route(
      "cart",
      "cart.example.com",
      `http: [{ match: [{ sourceLabels: { app: batch } }], ${TO_CART} }, { ${TO_CART} }]`,
    ),
    [],
  ],
  "the second of two tcp rules at one port of a gateway: another finding says so": [
    CART + DOOR + route("a", "a.db.test", `tcp: [{ match: [{ port: 5432 }], ${TO_CART} }]`, "gateways: [door],") +
    route("b", "b.db.test", `tcp: [{ match: [{ port: 5432 }], ${TO_CART} }]`, "gateways: [door],"),
    [],
  ],
  "a rule for a port that the gateway lacks": [
    CART + DOOR +
    route("a", "a.db.test", `http: [{ match: [{ port: 81 }], ${TO_CART} }, { ${TO_CART} }]`, "gateways: [door],"),
    ["VirtualService a spec.http[0]"],
  ],
  "the second rule for all requests, of another object at a gateway": [
    CART + DOOR + route("a", "a.db.test", `http: [{ ${TO_CART} }]`, "gateways: [door],") +
    route("b", "a.db.test", `http: [{ ${TO_CART} }]`, "gateways: [door],"),
    ["VirtualService b"],
  ],
  "a port of a traffic policy that the service lacks": [
    CART +
    object(
      "DestinationRule",
      "cart",
      `{ host: cart.example.com, trafficPolicy: { portLevelSettings: [{ port: { number: 8001 }, loadBalancer: { simple: RANDOM } },
      { port: { number: 8000 }, loadBalancer: { simple: RANDOM } }] },
      subsets: [{ name: v1, labels: { version: v1 }, trafficPolicy: { portLevelSettings: [{ port: { number: 9 }, loadBalancer: { simple: RANDOM } }] } }] }`,
    ),
    [
      "DestinationRule cart spec.trafficPolicy.portLevelSettings[0].port.number",
      "DestinationRule cart spec.subsets[0].trafficPolicy.portLevelSettings[0].port.number",
    ],
  ],
  "a rule for a host of another namespace: clients of its own namespace may come": [
    CART +
    object("DestinationRule", "cart", "{ host: cart.example.com, trafficPolicy: { loadBalancer: { simple: RANDOM } } }")
      .replace("namespace: shop", "namespace: ops"),
    [],
  ],
  "a delegate that no object delegates to": [
    CART + object("VirtualService", "part", `{ http: [{ ${TO_CART} }] }`),
    ["VirtualService part"],
  ],
  "a rule of a delegate that lies outside of what its root matches: the root has the finding": [
    CART + route("cart", "cart.example.com", `http: [{ match: [{ uri: { prefix: /a } }], delegate: { name: part } }]`) +
    object(
      "VirtualService",
      "part",
      `{ http: [{ match: [{ uri: { prefix: /a/b } }], ${TO_CART} }, { match: [{ uri: { prefix: /c } }], ${TO_CART} }] }`,
    ),
    [],
  ],
  "a policy that a narrower one of the same workload takes the place of": [
    CART +
    object(
      "PeerAuthentication",
      "one",
      "{ selector: { matchLabels: { app: web } }, mtls: { mode: STRICT } }",
      "security.mesh.io/v1",
    ) +
    object(
      "PeerAuthentication",
      "two",
      "{ selector: { matchLabels: { app: web } }, mtls: { mode: DISABLE } }",
      "security.mesh.io/v1",
    ),
    ["PeerAuthentication two"],
  ],
  "a policy without a mode that keeps a younger one of its level away: it has an effect": [
    CART +
    object("PeerAuthentication", "one", "{ mtls: { mode: UNSET } }", "security.mesh.io/v1") +
    object("PeerAuthentication", "two", "{ mtls: { mode: DISABLE } }", "security.mesh.io/v1"),
    ["PeerAuthentication two"],
  ],
  "a policy without a mode": [
    CART + object("PeerAuthentication", "one", "{ mtls: { mode: UNSET } }", "security.mesh.io/v1"),
    ["PeerAuthentication one"],
  ],
  "a policy that says what holds anyway: it is in force": [
    CART + object("PeerAuthentication", "one", "{ mtls: { mode: PERMISSIVE } }", "security.mesh.io/v1"),
    [],
  ],
  "a patch that nothing fits, beside one that something fits": [
    CART +
    object(
      "ProxyFilter",
      "pool",
      `{ workloadSelector: { labels: { app: web } }, configPatches: [
      { applyTo: CLUSTER, match: { context: SIDECAR_OUTBOUND, cluster: { service: none.example.com } }, patch: { operation: MERGE, value: { connect_timeout: 1s } } },
      { applyTo: CLUSTER, match: { context: SIDECAR_OUTBOUND, cluster: { service: cart.example.com } }, patch: { operation: MERGE, value: { connect_timeout: 1s } } }] }`,
      "networking.mesh.io/v1alpha3",
    ),
    ["ProxyFilter pool spec.configPatches[0].match"],
  ],
  "an entry whose host another namespace has, too: clients of its own namespace may come": [
    CART + service("cart", 8000).replace("namespace: shop", "namespace: copy"),
    [],
  ],
  "a host of an entry that an older entry of its namespace has, found in another way": [
    CART +
    aged("base", 2020, "{ hosts: [two.test], ports: [{ number: 80, name: p, protocol: HTTP }], resolution: DNS }") +
    aged(
      "young",
      2024,
      "{ hosts: [one.test, two.test], ports: [{ number: 80, name: p, protocol: HTTP }], resolution: STATIC, endpoints: [{ address: 10.9.4.4 }] }",
    ),
    ["ServiceEntry young spec.hosts[1]"],
  ],
  "a port of an entry that an older entry of its namespace has, found in another way: another finding says so": [
    CART +
    aged("base", 2020, "{ hosts: [two.test], ports: [{ number: 80, name: p, protocol: HTTP }], resolution: DNS }") +
    aged(
      "young",
      2024,
      "{ hosts: [two.test], ports: [{ number: 80, name: p, protocol: HTTP }, { number: 81, name: q, protocol: HTTP }], resolution: STATIC, endpoints: [{ address: 10.9.4.4 }] }",
    ),
    [],
  ],
  "the same port, found in the same way: the endpoints are of both": [
    CART + aged("base", 2020, STATIC("10.9.4.3")) + aged("young", 2024, STATIC("10.9.4.4")),
    [],
  ],
  "an import whose port another egress listener has for itself": [
    CART + service("own", 8000) + sidecar(`- { port: { number: 8000, protocol: HTTP, name: h }, hosts: ["ops/*"] }
  - { hosts: ["./*"] }`),
    ["Sidecar web spec.egress[1].hosts[0]"],
  ],
  "the same import beside a service with a port of its own: the part is the port": [
    CART + service("own", 9000) +
    sidecar(`- { port: { number: 8000, protocol: HTTP, name: h }, hosts: ["./own.example.com"] }
  - { hosts: ["./*"] }`),
    ["Sidecar web spec.egress[0].hosts[0]", "Sidecar web spec.egress[1].hosts[0]"],
  ],
  "an import by the listener that has the port: none": [
    CART + sidecar(`- { port: { number: 8000, protocol: HTTP, name: h }, hosts: ["./*"] }`),
    [],
  ],
  "an import of a service without the port of its egress listener": [
    CART + service("other", 9000) +
    sidecar(
      `- { port: { number: 8000, protocol: HTTP, name: h }, hosts: ["./cart.example.com", "./other.example.com"] }`,
    ),
    ["Sidecar web spec.egress[0].hosts[1]"],
  ],
  "an import of a namespace in which nothing is yet: none": [
    CART + sidecar(`- { hosts: ["./*", "later/*"] }`),
    [],
  ],
  "settings of a Telemetry that those of narrower ones override for all workloads": [
    CLIENT + telemetry("all", "", logs("response.code > 400")) +
    telemetry("web", "app: web", logs("response.code > 500")),
    ["Telemetry all spec.accessLogging[0]"],
  ],
  "an override of metrics that a later one takes back": [
    CART + telemetry(
      "all",
      "",
      `metrics: [{ providers: [{ name: prometheus }], overrides: [{ match: { metric: REQUEST_COUNT, mode: CLIENT }, disabled: true },
      { match: { metric: REQUEST_COUNT, mode: CLIENT }, disabled: false, tagOverrides: { a: { value: "'b'" } } }, { match: { metric: REQUEST_SIZE, mode: CLIENT }, tagOverrides: { a: { value: "'b'" } } }] }]`,
    ),
    [],
  ],
  "a second provider of traces": [
    CART + telemetry("all", "", `tracing: [{ providers: [{ name: zipkin }, { name: other }] }]`),
    [],
  ],
  "an entry of logs that says what holds anyway: it is in force": [
    CART + telemetry("all", "", `accessLogging: [{ providers: [{ name: envoy }] }]`),
    [],
  ],
};

for (const [name, [text, parts]] of Object.entries(CASES)) {
  Deno.test(`reaches no proxy: ${name}`, () => assert.deepEqual(unused(text), parts));
}

Deno.test("nothing follows from what is not there where services outside of the texts exist", () => {
  const found = check(CART + route("front", "front.test", `http: [{ ${TO_CART} }]`), true);
  assert.deepEqual(found.map(({ message }) => message), []);
});

Deno.test("a finding about what reaches no proxy names the place, what would have an effect, and the object that has it instead", () => {
  const text = CART + DOOR +
    route("a", "a.db.test", `http: [{ match: [{ port: 81 }], ${TO_CART} }, { ${TO_CART} }]`, "gateways: [door],");
  const found = check(text).find(({ code }) => code === "MSH1036");
  assert.match(found!.message, /spec\.http\[0\], expected a port of Gateway shop\/door \(it has 5432, 80\)/);
  assert.deepEqual(found!.place.objects.map(({ kind, name }) => `${kind} ${name}`), [
    "VirtualService a",
    "Gateway door",
  ]);
  assert.match(text.split("\n")[found!.place.line - 1]!, /match: \[\{ port: 81 \}\]/);
});

Deno.test("a part that reaches no proxy is reported once: not if another finding already reports it", () => {
  const text = CART +
    object(
      "Gateway",
      "plain",
      `{ selector: { app: door }, servers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: ["*"] }] }`,
    ) +
    object(
      "Gateway",
      "taken",
      `{ selector: { app: door }, servers: [{ port: { number: 80, name: tcp, protocol: TCP }, hosts: ["*"] }] }`,
    );
  const found = check(text).filter(({ place: { objects: [one] } }) => one?.name === "taken");
  assert.deepEqual(found.map(({ name }) => name), ["gateway-not-as-written"]);
});

Deno.test("an object may suppress the finding", () => {
  const text = CART + route("front", "front.test", `http: [{ ${TO_CART} }]`)
    .replace("name: front,", `name: front, annotations: { galley.mesh.io/analyze-suppress: MSH1036 },`);
  assert.deepEqual(unused(text), []);
});
