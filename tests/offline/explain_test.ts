/** The way of a request over both hops: each step with its field, nearly matching rules, and the end. */
import assert from "node:assert/strict";
import { explanationText } from "../../cmd/pilot-discovery/explain_text.ts";
import { NO_TERMINAL } from "../../lib/cli/terminal/terminal.ts";
import { isServed } from "../../lib/debug/explanation.ts";
import { explainRequest } from "../../lib/offline/explain/explain.ts";
import { onWay, worldOf } from "../../lib/offline/explain/of_mesh.ts";
import { BadQuestion, type ExplainQuestion, readQuestion } from "../../lib/offline/explain/question.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { FieldPlaces } from "../../lib/offline/field_place.ts";
import { findProxy } from "../../lib/offline/find_proxy.ts";
import { proxiesOf } from "../../lib/offline/workloads.ts";
import { example, meshOf } from "./mesh_of.ts";

function explain(files: Record<string, string>, from: string, question: ExplainQuestion, settings: MeshSettings = {}) {
  const mesh = meshOf(files, { settings: defaultSettings("pilot-discovery", settings) });
  const { proxies, options } = proxiesOf(mesh);
  const world = worldOf(mesh, proxies, new FieldPlaces((file) => files[file]));
  return explainRequest(readQuestion(question), onWay(findProxy(from, proxies, options).proxy), world);
}

type MeshSettings = Parameters<typeof defaultSettings<"pilot-discovery">>[1];

/** Steps of a hop in short: subject, verdict, text, place. */
async function steps(files: Record<string, string>, from: string, question: ExplainQuestion, hop = 0) {
  const { hops } = await explain(files, from, question);
  return hops[hop]!.steps.map(({ what, name, matches, text, place, object }) =>
    [
      what,
      name,
      matches === undefined ? "" : matches ? "yes" : "no",
      text,
      place ? `${place.file}:${place.line}` : object ?? "",
    ]
      .filter((part) => part !== "").join(" | ")
  );
}

const shop = example("shop");
/** Line of the first text in a file. */
const line = (files: Record<string, string>, file: string, text: string) =>
  `${file}:${files[file]!.slice(0, files[file]!.indexOf(text)).split("\n").length}`;

Deno.test("each step has the line of the field that caused it, and rules before the one that matches say why not", async () => {
  assert.deepEqual(await steps(shop, "shop/cart", { to: "http://reviews/api" }), [
    `listener | 0.0.0.0_80 | ${line(shop, "services.yaml", "apiVersion")}`,
    `host | reviews | ${line(shop, "routes.yaml", "hosts:")}`,
    `rule | 1 "beta" | no | header x-beta missing | ${line(shop, "routes.yaml", "- headers:")}`,
    `rule | 2 | yes | prefix / | ${line(shop, "routes.yaml", "- route:")}`,
    `cluster | v1 of reviews:80 | 90 %, 1 of 1 healthy | ${line(shop, "versions.yaml", "- name: v1")}`,
    `cluster | v2 of reviews:80 | 10 %, 1 of 1 healthy | ${line(shop, "versions.yaml", "- name: v2")}`,
  ]);
});

Deno.test("headers decide: another rule, another endpoint, whose own proxy is the second hop", async () => {
  const { hops, end } = await explain(shop, "shop/cart", { to: "http://reviews/api", headers: ["X-Beta: yes"] });
  assert.deepEqual(hops.map(({ proxy, direction }) => `${direction} ${proxy.name}`), [
    "outbound cart",
    "inbound reviews-v2",
  ]);
  assert.deepEqual([end.kind, end.endpoint], ["forwarded", "10.0.0.7:9080"]);
  const wrong = await steps(shop, "shop/cart", { to: "http://reviews/", headers: ["x-beta: no"] });
  assert.ok(wrong.some((step) => step.includes('no | header x-beta is "no", expected "yes"')), wrong.join("\n"));
});

Deno.test("of a header that is given several times each value counts, and the Host header may be given once", async () => {
  const headers = ["X-Beta: no", "x-beta: yes"];
  const { hops, request } = await explain(shop, "shop/cart", { to: "http://reviews/api", headers });
  assert.equal(hops[1]!.proxy.name, "reviews-v2");
  assert.deepEqual(request.headers, { "x-beta": ["no", "yes"] });
  const wrong = await steps(shop, "shop/cart", { to: "http://reviews/", headers: ["x-beta: no", "x-beta: never"] });
  assert.ok(
    wrong.some((step) => step.includes('no | header x-beta is "no" and "never", expected "yes"')),
    wrong.join(),
  );
  assert.throws(
    () => readQuestion({ to: "http://reviews/", headers: ["host: a", "Host: b"] }),
    (error) => error instanceof BadQuestion && error.message === "got header host 2 times (a, b), expected it once",
  );
});

Deno.test("a rule that another workload's labels exclude is not taken for one with the same condition", async () => {
  const files = { ...shop };
  files["routes.yaml"] = files["routes.yaml"]!.replace(
    "    - name: beta",
    `    - match:
        - sourceLabels: { app: other }
          headers: { x-beta: { exact: "yes" } }
      route: [{ destination: { host: reviews.shop.svc.cluster.local, subset: v1 } }]
    - name: beta`,
  );
  const found = await steps(files, "shop/cart", { to: "http://reviews/", headers: ["x-beta: yes"] });
  assert.deepEqual(found.filter((step) => step.startsWith("rule")), [
    `rule | 2 "beta" | yes | prefix /, header x-beta "yes" | ${
      line(files, "routes.yaml", '- headers: { x-beta: { exact: "yes" } }\n      route:\n        - dest')
    }`,
  ]);
});

const HBONE = {
  PILOT_ENABLE_SENDING_HBONE: true,
  PILOT_PREFER_SENDING_HBONE: true,
  PILOT_ENABLE_SIDECAR_LISTENING_HBONE: true,
};

/** The shop, with workloads of reviews that take HBONE, and further texts. */
const tunnelled = (...more: readonly string[]) => ({
  ...shop,
  "services.yaml": shop["services.yaml"]!.replaceAll(
    "labels: { app: reviews, version",
    'serviceAccount: reviews, labels: { app: reviews, "networking.istio.io/tunnel": http, version',
  ),
  // By a service the account of the caller is known.
  "more.yaml": [
    `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: cart, namespace: shop }
spec:
  hosts: [cart.shop.svc.cluster.local]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: 10.0.0.5, serviceAccount: cart }]
`,
    ...more,
  ].join("\n---\n"),
});

const policyFor = (principal: string) => `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: callers, namespace: shop }
spec:
  selector: { matchLabels: { app: reviews } }
  rules: [{ from: [{ source: { principals: ["${principal}"], ipBlocks: [10.0.0.5] } }] }]
`;

Deno.test("a request over HBONE is followed to the address that its CONNECT names, and into the listener inside of it", async () => {
  const asked = { to: "http://reviews/", headers: ["x-beta: yes"] };
  const { hops, end } = await explain(tunnelled(), "shop/cart", asked, HBONE);
  const [sent, taken] = hops.map(({ steps }) => steps.map(({ what, name, text }) => `${what} ${name}: ${text}`));
  assert.equal(sent!.at(-1), "cluster v2 of reviews:80: 1 of 1 healthy, HBONE");
  assert.equal(hops[1]!.proxy.name, "reviews-v2");
  assert.equal(taken![0], "listener main_internal: inside of HBONE");
  assert.deepEqual([end.kind, end.endpoint], ["forwarded", "10.0.0.7:9080"]);
});

Deno.test("policies decide about HBONE by the identity behind the CONNECT; a workload that accepts no HBONE is reported", async () => {
  const asked = { to: "http://reviews/", headers: ["x-beta: yes"] };
  const admitted = tunnelled(policyFor("cluster.local/ns/shop/sa/cart"));
  assert.equal((await explain(admitted, "shop/cart", asked, HBONE)).end.kind, "forwarded");
  const refused = tunnelled(policyFor("cluster.local/ns/shop/sa/other"));
  assert.match((await explain(refused, "shop/cart", asked, HBONE)).end.text, /^answered 403: not admitted by any rule/);
  const deaf = { ...HBONE, PILOT_ENABLE_SIDECAR_LISTENING_HBONE: false };
  const { end } = await explain(tunnelled(), "shop/cart", asked, deaf);
  assert.equal(end.text, "connection closed: the proxy takes nothing by HBONE");
});

Deno.test("a failing request is explained by its place: no rule, no subset, no port, no host", async () => {
  const routes = shop["routes.yaml"]!;
  const onlyBeta = { ...shop, "routes.yaml": routes.slice(0, routes.indexOf("    - route:")) };
  const none = await explain(onlyBeta, "shop/cart", { to: "http://reviews/" });
  assert.deepEqual([none.end.kind, none.end.status, none.end.text], [
    "answered",
    404,
    "answered 404: no route matches",
  ]);
  assert.deepEqual(none.hops[0]!.steps.filter(({ what }) => what === "rule").map(({ matches }) => matches), [false]);

  const v9 = { ...shop, "routes.yaml": routes.replace("subset: v2 }\n    -", "subset: v9 }\n    -") };
  const missing = await explain(v9, "shop/cart", { to: "http://reviews/", headers: ["x-beta: yes"] });
  assert.equal(missing.end.status, 503);
  assert.ok(missing.hops[0]!.steps.some(({ what, text }) => what === "cluster" && text === "does not exist"));

  const port = await explain(shop, "shop/cart", { to: "http://reviews:81/" });
  assert.match(port.notes.join("\n"), /reviews\.shop\.svc\.cluster\.local has no port 81; it has 80/);
  const host = await explain(shop, "shop/cart", { to: "https://elsewhere.example/" });
  assert.match(host.notes.join("\n"), /no service has the host elsewhere\.example/);
});

Deno.test("every share of a rule is followed to its end: the largest first, also one that fails", async () => {
  const both = await explain(shop, "shop/cart", { to: "http://reviews/" });
  assert.deepEqual(both.shares.map(({ share, cluster, hop, end }) => [share, cluster, hop?.proxy.name, end.endpoint]), [
    [0.9, "v1 of reviews:80", "reviews-v1", "10.0.0.6:9080"],
    [0.1, "v2 of reviews:80", "reviews-v2", "10.0.0.7:9080"],
  ]);
  assert.deepEqual([both.hops[1], both.end], [both.shares[0]!.hop, both.shares[0]!.end]);
  assert.ok(isServed(both));

  const v9 = { ...shop, "routes.yaml": shop["routes.yaml"]!.replace("subset: v1 }", "subset: v9 }") };
  const broken = await explain(v9, "shop/cart", { to: "http://reviews/" });
  assert.deepEqual(broken.shares.map(({ share, hop, end }) => [share, hop?.proxy.name, end.text]), [
    [0.9, undefined, "answered 503: the cluster does not exist"],
    [0.1, "reviews-v2", "forwarded 10.0.0.7:9080 (1 of 1 healthy)"],
  ]);
  assert.deepEqual([broken.end.kind, broken.hops[1]!.proxy.name, isServed(broken)], ["forwarded", "reviews-v2", false]);

  const one = await explain(shop, "shop/cart", { to: "http://reviews/", headers: ["x-beta: yes"] });
  assert.deepEqual([one.shares, isServed(one)], [[], true]);
});

Deno.test("copies are followed to their end too, with their share", async () => {
  const mirrored = (mirror: string) => ({
    ...shop,
    "routes.yaml": shop["routes.yaml"]!.replace(
      "    - name: beta",
      `    - name: beta\n      mirrors: [{ ${mirror} }]`,
    ),
  });
  const asked = { to: "http://reviews/", headers: ["x-beta: yes"] };
  const v1 = "destination: { host: reviews.shop.svc.cluster.local, subset: v1 }, percentage: { value: 12.5 }";
  const { hops, end, shares, mirrors } = await explain(mirrored(v1), "shop/cart", asked);
  assert.deepEqual([end.endpoint, hops[1]!.proxy.name, shares], ["10.0.0.7:9080", "reviews-v2", []]);
  assert.deepEqual(mirrors.map(({ share, cluster, hop, end }) => [share, cluster, hop?.proxy.name, end.endpoint]), [
    [0.125, "v1 of reviews:80", "reviews-v1", "10.0.0.6:9080"],
  ]);
  const step = hops[0]!.steps.find(({ what }) => what === "mirror");
  assert.deepEqual([step?.name, step?.text, step?.place?.file], [
    "v1 of reviews:80",
    "12.5 % of requests, 1 of 1 healthy",
    "versions.yaml",
  ]);

  const copied = hops[0]!.simulation.steps.find((one) => one.step === "mirror");
  assert.deepEqual([copied?.suffixed, copied?.share], [true, 0.125]);

  // The fate of a copy does not matter to the client.
  const v9 = "destination: { host: reviews.shop.svc.cluster.local, subset: v9 }";
  const broken = await explain(mirrored(v9), "shop/cart", asked);
  assert.deepEqual([broken.end.kind, isServed(broken)], ["forwarded", true]);
  assert.deepEqual(broken.mirrors.map(({ share, end }) => [share, end.text]), [
    [1, "answered 503: the cluster does not exist"],
  ]);
});

Deno.test("a rule of a delegate has the line of the delegate's file, whatever the root's rule narrows it by", async () => {
  const files = {
    "services.yaml": shop["services.yaml"]!,
    "root.yaml": `apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: root, namespace: shop }
spec:
  hosts: [reviews.shop.svc.cluster.local]
  http:
    - name: plain
      match: [{ uri: { prefix: /plain } }]
      route: [{ destination: { host: reviews.shop.svc.cluster.local } }]
    - name: all
      match: [{ uri: { prefix: /api } }, { uri: { prefix: /v1 } }]
      delegate: { name: rules }
`,
    "delegate.yaml": `apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: rules, namespace: shop }
spec:
  http:
    - name: beta
      match:
        - uri: { prefix: /api/x }
        - uri: { prefix: /v1/y }
      route: [{ destination: { host: reviews.shop.svc.cluster.local } }]
    - route: [{ destination: { host: reviews.shop.svc.cluster.local } }]
`,
  };
  const rules = async (to: string) =>
    (await explain(files, "shop/cart", { to })).hops[0]!.steps.filter(({ what }) => what === "rule")
      .map(({ name, matches, object, place }) => `${name} ${matches} ${object} ${place?.file}:${place?.line}`);
  assert.deepEqual(await rules("http://reviews/v1/y"), [
    `1 "plain" false VirtualService/shop/root root.yaml:8`,
    `2.1 "all-beta" false VirtualService/shop/rules delegate.yaml:8`,
    `2.1 "all-beta" true VirtualService/shop/rules delegate.yaml:9`,
  ]);
  assert.deepEqual(
    (await rules("http://reviews/v1/z")).at(-1),
    `2.2 "all" true VirtualService/shop/rules delegate.yaml:11`,
  );
});

const MANIFESTS = `apiVersion: v1
kind: Service
metadata: { name: front, namespace: shop }
spec:
  clusterIP: 10.96.7.7
  selector: { app: front }
  ports: [{ name: http, port: 80, targetPort: web }]
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: front, namespace: shop }
spec:
  selector: { matchLabels: { app: front } }
  template:
    metadata: { labels: { app: front } }
    spec: { containers: [{ name: front, image: front, ports: [{ name: web, containerPort: 8080 }] }] }
`;

Deno.test("a service known only from manifests: its address is dialled, the orchestrator chooses the endpoint, and a note names the limits", async () => {
  const files = { ...shop, "front.yaml": MANIFESTS };
  const { request, hops, end, notes } = await explain(files, "shop/cart", { to: "http://front/" });
  assert.deepEqual([request.destination, request.service], ["10.96.7.7:80", "Service/shop/front"]);
  assert.deepEqual(hops.map(({ proxy }) => proxy.name), ["cart", "front"]);
  assert.equal(
    end.text,
    "forwarded 10.96.7.7:80, which the orchestrator takes to port 8080 of a pod of Deployment shop/front (1 of 1 in manifests)",
  );
  assert.match(
    notes.join("\n"),
    /^Service shop\/front is known only from its manifest \(front\.yaml:1\), and Services of manifests are served only with --registries=File/m,
  );

  const slice = `---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: front-1, namespace: shop, labels: { kubernetes.io/service-name: front } }
addressType: IPv4
ports: [{ name: http, port: 8080 }]
endpoints:
  - { addresses: [10.0.0.8], conditions: { ready: false } }
  - { addresses: [10.0.0.9] }
`;
  const listed = await explain({ ...shop, "front.yaml": MANIFESTS + slice }, "shop/cart", { to: "http://10.96.7.7/" });
  assert.deepEqual([listed.end.endpoint, listed.hops.length], ["10.0.0.9:8080", 1]);
  assert.match(listed.notes.join("\n"), /no proxy is known at 10\.0\.0\.9/);
  const port = await explain(files, "shop/cart", { to: "http://front:81/" });
  assert.match(port.notes.join("\n"), /front\.shop\.svc\.cluster\.local has no port 81; it has 80/);
});

Deno.test("a gateway is dialled by itself", async () => {
  const files = example("first-steps/mesh");
  const { hops, end } = await explain(files, "demo/door", { to: "http://any.example:8088/hello" });
  assert.deepEqual([hops[0]!.direction, end.text], ["direct", "answered 200: the route answers itself"]);
});

Deno.test("short names mean the client's namespace, and host:port speaks the protocol of the service's port", async () => {
  for (
    const to of ["http://reviews/", "http://reviews.shop/", "http://reviews.shop.svc/", "reviews:80", "10.96.0.10:80"]
  ) {
    const { request, end } = await explain(shop, "shop/cart", { to });
    assert.deepEqual([to, request.scheme, request.service, end.kind], [
      to,
      "http",
      "ServiceEntry/shop/reviews",
      "forwarded",
    ]);
  }
});

Deno.test("an unreadable question is answered with all its mistakes", () => {
  assert.throws(
    () => readQuestion({ to: "ftp://x", method: "G T", headers: ["no colon"] }),
    (error) =>
      error instanceof BadQuestion && /header "no colon"/.test(error.message) && /method "G T"/.test(error.message) &&
      /destination "ftp:\/\/x", expected a URL/.test(error.message),
  );
  for (const to of ["", "reviews", "http://", "x:0", "x:70000", "http://a b/", "x:80/path"]) {
    assert.throws(() => readQuestion({ to }), BadQuestion, to);
  }
  assert.deepEqual(readQuestion({ to: "http://[::1]:8080/a?b" }), {
    ...{ scheme: "http", host: "::1", port: 8080, path: "/a?b", authority: "[::1]:8080", method: "GET", headers: {} },
  });
});

const guarded = (tlsMode: string) => ({
  "mesh.yaml": `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: app, namespace: shop }
spec:
  hosts: [app.test]
  addresses: [10.1.1.1]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP, targetPort: 8080 }, { number: 90, name: any, targetPort: 9090 }]
  endpoints: [{ address: 10.2.0.1, labels: { app: server, security.istio.io/tlsMode: ${tlsMode} } }]
---
apiVersion: networking.mesh.io/v1
kind: WorkloadEntry
metadata: { name: cart, namespace: shop }
spec: { address: 10.2.0.2, labels: { app: cart } }
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: all, namespace: shop }
spec: { mtls: { mode: STRICT } }
`,
});

const PLAIN = `apiVersion: networking.mesh.io/v1
kind: DestinationRule
metadata: { name: app, namespace: shop }
spec: { host: app.test, trafficPolicy: { tls: { mode: DISABLE } } }
`;

Deno.test("STRICT lets mutual TLS through, on ports with and without a protocol, and closes plain connections", async () => {
  for (const to of ["http://app.test/", "http://app.test:90/"]) {
    const served = await explain(guarded("istio"), "shop/cart", { to });
    assert.deepEqual([served.end.kind, served.hops.length], ["forwarded", 2], JSON.stringify(served.end));
    const steps = served.hops[0]!.steps.map((step) => JSON.stringify(step)).join("\n");
    assert.match(steps, /mutual TLS/);
    const plain = { ...guarded("istio"), "plain.yaml": PLAIN };
    const refused = await explain(plain, "shop/cart", { to });
    assert.equal(refused.end.text, "connection closed: no filter chain matches");
  }
});

/** The guarded server with policies; its callers have a service account. */
const authorized = (...specs: readonly object[]): Record<string, string> => {
  const { "mesh.yaml": text = "" } = guarded("istio");
  const caller = text.replace("labels: { app: cart }", "labels: { app: cart }, serviceAccount: cart");
  const service = `
---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: cart, namespace: shop }
spec:
  hosts: [cart.test]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  workloadSelector: { labels: { app: cart } }`;
  const policies = specs.map((spec, i) =>
    JSON.stringify({
      apiVersion: "security.istio.io/v1",
      kind: "AuthorizationPolicy",
      metadata: { name: `p${i}`, namespace: "shop" },
      spec,
    })
  );
  return { "mesh.yaml": [caller + service, ...policies].join("\n---\n") };
};

Deno.test("the policy and rule that refuse a request are named; who the caller is, is known by its service account", async () => {
  const from = (principal: string) => ({
    from: [{ source: { principals: [`cluster.local/ns/shop/sa/${principal}`] } }],
  });
  const denied = { action: "DENY", rules: [{ to: [{ operation: { paths: ["/x"] } }] }, from("cart")] };
  const cases: readonly [object[], string, string][] = [
    [[{ rules: [from("cart")] }], "http://app.test/", "forwarded"],
    [
      [{ rules: [from("other")] }],
      "http://app.test/",
      "answered 403: not admitted by any rule of AuthorizationPolicy shop/p0",
    ],
    [[{}], "http://app.test/", "answered 403: not admitted by any rule of AuthorizationPolicy shop/p0"],
    [[denied], "http://app.test/x", "answered 403: denied by AuthorizationPolicy shop/p0 rules[0]"],
    [[denied], "http://app.test/y", "answered 403: denied by AuthorizationPolicy shop/p0 rules[1]"],
    [
      [{ rules: [from("cart")] }, denied],
      "tcp://app.test:90",
      "connection closed: denied by AuthorizationPolicy shop/p1 rules[0]",
    ],
    [
      [{ action: "CUSTOM", provider: { name: "no" }, rules: [{}] }],
      "http://app.test/",
      "answered 403: denied by AuthorizationPolicy shop/p0 rules[0]",
    ],
  ];
  for (const [specs, to, expected] of cases) {
    const { end } = await explain(authorized(...specs), "shop/cart", { to });
    assert.equal(end.kind === "forwarded" ? "forwarded" : end.text, expected, JSON.stringify([specs, to]));
  }
});

Deno.test("a request without a token is judged by its having no claims; of one with a token the end is not known", async () => {
  const tokens = JSON.stringify({
    apiVersion: "security.istio.io/v1",
    kind: "RequestAuthentication",
    metadata: { name: "tokens", namespace: "shop" },
    spec: {
      jwtRules: [{ issuer: "one", jwks: '{"keys":[]}' }, { issuer: "two", jwks: '{"keys":[]}', fromParams: ["t"] }],
    },
  });
  const claimed = authorized({ rules: [{ from: [{ source: { requestPrincipals: ["*"] } }] }] });
  const files = { ...claimed, "tokens.yaml": tokens };
  const unknown = /whether the request's token is accepted, and what it claims/;
  const cases: readonly [string, readonly string[], RegExp][] = [
    ["http://app.test/", [], /^answered 403: not admitted by any rule of AuthorizationPolicy shop\/p0$/],
    ["http://app.test/", ["authorization: Basic x"], /^answered 403: not admitted/],
    ["http://app.test/", ["authorization: Bearer x"], unknown],
    ["http://app.test/?access_token=x", [], unknown],
    ["http://app.test/?t=x", [], unknown],
  ];
  for (const [to, headers, expected] of cases) {
    const { end } = await explain(files, "shop/cart", { to, headers });
    assert.match(end.text, expected, JSON.stringify([to, headers]));
  }
});

Deno.test("the text of a way fits a terminal, and says the same as for a program", async () => {
  const way = await explain(shop, "shop/cart", { to: "http://reviews/", headers: ["x-beta: no"] });
  const text = (width: number) => explanationText(way, { ...NO_TERMINAL, width }, { all: true });
  const words = (width: number) => text(width).split(/\s+/);
  const longest = (width: number) => Math.max(...text(width).split("\n").map((line) => line.length));
  assert.ok(longest(Infinity) > 80, `${longest(Infinity)}`);
  for (const width of [40, 60, 80]) {
    assert.deepEqual(words(width), words(Infinity));
    assert.ok(longest(width) <= width, text(width));
  }
});
