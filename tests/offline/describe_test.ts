/** Descriptions of pods and services: of files, and of a running server. */
import assert from "node:assert/strict";
import { descriptionText } from "../../cmd/pilot-discovery/describe_text.ts";
import { NO_TERMINAL } from "../../lib/cli/terminal/terminal.ts";
import type { MeshServiceDescription, PodDescription } from "../../lib/debug/description.ts";
import { describeInMesh } from "../../lib/offline/describe/of_mesh.ts";
import { serverExplainer } from "../../lib/offline/explain/of_server.ts";
import { struct } from "../../lib/pb/wellknown.ts";
import { pilotDiscovery } from "../cmd/offline.ts";
import { TestProxy } from "../debug/proxy.ts";
import { withServer } from "../discovery/running.ts";
import { policy, service, SHOP, STRICT, WAYPOINT } from "./ambient_shop.ts";
import { example, meshOf } from "./mesh_of.ts";

/** A Deployment behind a Service, with a rule, routes inside and from a gateway, and policies of every level. */
const MESH = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: reviews-v1, namespace: shop }
spec:
  selector: { matchLabels: { app: reviews } }
  template:
    metadata: { labels: { app: reviews, version: v1, sidecar.istio.io/inject: "true" } }
    spec: { serviceAccountName: reviews, containers: [{ name: main, image: main, ports: [{ name: http, containerPort: 9080 }] }] }
---
apiVersion: v1
kind: Service
metadata: { name: reviews, namespace: shop }
spec: { clusterIP: 10.96.0.10, selector: { app: reviews }, ports: [{ name: http, port: 80, targetPort: 9080 }] }
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: reviews, namespace: shop }
spec:
  host: reviews
  trafficPolicy: { tls: { mode: ISTIO_MUTUAL }, outlierDetection: { consecutive5xxErrors: 3 } }
  subsets: [{ name: v1, labels: { version: v1 } }, { name: v2, labels: { version: v2 } }]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: reviews, namespace: shop }
spec:
  hosts: [reviews]
  http:
    - { name: beta, match: [{ headers: { x-beta: { exact: "yes" } } }], route: [{ destination: { host: reviews, subset: v2 } }] }
    - { match: [{ uri: { prefix: /old } }], redirect: { uri: /new } }
    - route:
        - { destination: { host: reviews, subset: v1 }, weight: 3 }
        - { destination: { host: reviews, subset: v2 }, weight: 1 }
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: second, namespace: shop }
spec: { hosts: [reviews], http: [{ route: [{ destination: { host: reviews } }] }] }
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: front, namespace: edge }
spec: { selector: { istio: front }, servers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: [shop.example] }] }
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: entry, namespace: edge }
spec:
  hosts: [shop.example]
  gateways: [front]
  http: [{ match: [{ uri: { prefix: /reviews } }], route: [{ destination: { host: reviews.shop.svc.cluster.local } }] }]
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: front, namespace: edge }
spec:
  selector: { matchLabels: { istio: front } }
  template: { metadata: { labels: { istio: front } }, spec: { containers: [{ name: istio-proxy, image: proxy }] } }
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: all, namespace: shop }
spec: { mtls: { mode: STRICT } }
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: reviews, namespace: shop }
spec: { selector: { matchLabels: { app: reviews } }, portLevelMtls: { 9080: { mode: PERMISSIVE } } }
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: callers, namespace: shop }
spec: { action: ALLOW, rules: [{ from: [{ source: { principals: [cluster.local/ns/shop/sa/cart] } }] }] }
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: trial, namespace: shop, annotations: { istio.io/dry-run: "true" } }
spec: { selector: { matchLabels: { app: reviews } }, action: DENY, rules: [{}] }
---
apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: { name: tokens, namespace: shop }
spec: { jwtRules: [{ issuer: "https://issuer.example", jwks: '{"keys":[]}' }] }
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: others, namespace: elsewhere }
spec: {}
`;

const inFiles = (yaml: string) => meshOf({ "mesh.yaml": yaml }, { manifestServices: true });
const pod = (name: string, yaml = MESH) => describeInMesh({ pod: name }, inFiles(yaml)) as PodDescription;
const serviceIn = (name: string, yaml = MESH) =>
  describeInMesh({ service: name }, inFiles(yaml)) as MeshServiceDescription;

Deno.test("a pod has its services, the subsets and routes that reach it, its policies and its mutual TLS", () => {
  const { services: [found, ...more], policies, tls, ...rest } = pod("reviews-v1.shop");
  assert.deepEqual([rest.pod, rest.account, rest.proxy, rest.containerPorts, more], [
    "shop/reviews-v1",
    "reviews",
    "a sidecar runs beside it",
    ["9080 http (main)"],
    [],
  ]);
  assert.deepEqual(tls, {
    mode: "STRICT",
    ports: { 9080: "PERMISSIVE" },
    objects: ["PeerAuthentication/shop/all", "PeerAuthentication/shop/reviews"],
  });
  const [rule] = found!.rules;
  assert.deepEqual([rule!.object, rule!.inForce, rule!.policy], [
    "DestinationRule/shop/reviews",
    true,
    ["outlierDetection", "tls MESH_MUTUAL"],
  ]);
  assert.deepEqual(rule!.subsets.map(({ name, matches }) => [name, matches]), [["v1", true], ["v2", false]]);
  const [first, ...others] = found!.routes;
  assert.deepEqual([first!.object, first!.inForce], ["VirtualService/shop/reviews", true]);
  assert.deepEqual(first!.routes.map(({ name, when, answers }) => [name, when, answers]), [
    ["beta", 'header x-beta "yes"', undefined],
    ["2", "prefix /old", "redirect"],
    ["3", "every request", undefined],
  ]);
  const reached = first!.routes.map(({ to }) =>
    to.map(({ subset, percent, reachesPod }) => [subset, percent, reachesPod])
  );
  assert.deepEqual(reached, [[["v2", undefined, false]], [], [["v1", 75, true], ["v2", 25, false]]]);
  // Another VirtualService of the same host has no effect, and says so; routes of a gateway have no such state.
  assert.deepEqual(others.map(({ object, inForce }) => [object, inForce]), [
    ["VirtualService/edge/entry", undefined],
    ["VirtualService/shop/second", false],
  ]);
  assert.deepEqual(found!.gateways, [{ object: "Gateway/edge/front", servers: ["HTTP 80 for shop.example"] }]);
  assert.deepEqual(policies.map(({ object, level, text }) => `${object}, ${level}: ${text}`), [
    "AuthorizationPolicy/shop/callers, namespace: ALLOW, 1 rule",
    "AuthorizationPolicy/shop/trial, workload: DENY, 1 rule, a dry run that decides nothing",
    "PeerAuthentication/shop/all, namespace: STRICT",
    "PeerAuthentication/shop/reviews, workload: UNSET, port 9080 PERMISSIVE",
    "RequestAuthentication/shop/tokens, namespace: tokens of https://issuer.example",
  ]);
});

Deno.test("a service has its workloads, mutual TLS and callers; a gateway has the Gateways that it serves", () => {
  const found = serviceIn("reviews.shop");
  assert.deepEqual([found.workloads, found.tls], [["shop/reviews-v1"], "strict"]);
  assert.deepEqual(found.callers.map(({ caller, result }) => [caller, result]), [
    ["shop/cart", "allowed"],
    ["any workload", "denied"],
  ]);
  assert.ok(found.policies.some(({ object }) => object === "AuthorizationPolicy/shop/callers"));
  assert.ok(!found.keys.some((key) => key.includes("elsewhere")));
  const front = pod("front.edge");
  assert.deepEqual([front.type, front.tls, front.serves.map(({ object }) => object)], [
    "router",
    undefined,
    ["Gateway/edge/front"],
  ]);
});

Deno.test("a pod in ambient mode has its capture, and the policies of its service at the waypoint", () => {
  const marked = service("cart", "10.96.0.2", "istio.io/use-waypoint: gate");
  const aimed = policy("aimed", "{ targetRefs: [{ kind: Service, group: '', name: cart }], rules: [{}] }");
  const texts = [...SHOP.filter((one) => !one.includes("name: cart, namespace: shop, labels: {  }")), marked, STRICT];
  const found = pod("cart.shop", [...texts, WAYPOINT, aimed].join("\n---\n"));
  assert.match(found.ambient ?? "", /^captured: .* says that a tunnel has it$/);
  assert.deepEqual(found.services.map(({ host, waypoint }) => [host, waypoint?.name, waypoint?.way]), [
    ["cart.shop.svc.cluster.local", "shop/gate", "waypoint"],
  ]);
  assert.ok(
    found.policies.some(({ object, level }) =>
      `${object} ${level}` === "AuthorizationPolicy/shop/aimed waypoint shop/gate"
    ),
    JSON.stringify(found.policies),
  );
});

Deno.test("a server describes the same as the files that it serves, with its connected proxies", async () => {
  const files = example("shop");
  const CART = { id: "sidecar~10.0.0.6~reviews-v1.shop~shop.svc.cluster.local", metadata: {} };
  await withServer(files, async ({ ports }) => {
    using _proxy = await TestProxy.attach(ports.grpc, {
      ...CART,
      metadata: struct({ LABELS: { app: "reviews", version: "v1" } }),
    });
    const server = `--server=127.0.0.1:${ports.http}`;
    const run = (...args: string[]) => pilotDiscovery(["describe", ...args, server]);
    const [one, json, svc, short, absent, near, x] = await Promise.all([
      run("pod", "reviews-v1.shop"),
      run("pod", "reviews-v1", "-n=shop", "-o=json"),
      run("svc", "reviews.shop", "-o=json"),
      run("pod", "pod/cart"),
      run("pod", "a.b"),
      run("service", "review.shop"),
      pilotDiscovery(["x", "describe", "pod", "shop/cart", server]),
    ]);
    assert.equal(one!.code, 0, one!.err);
    assert.match(one!.out, /^pod shop\/reviews-v1\n[^]*\n {2}proxy +sidecar, connected to this server\n/);
    assert.match(one!.out, /\n {2}labels +.*app=reviews, version=v1/);
    assert.match(one!.out, /\n {4}http beta +header x-beta "yes": to subset v2 \(not to this pod\)\n/);
    const described = JSON.parse(json!.out);
    const offline = describeInMesh({ pod: "reviews-v1.shop" }, meshOf(files)) as PodDescription;
    assert.deepEqual([described.services, described.policies, described.tls], [
      offline.services,
      offline.policies,
      offline.tls,
    ]);
    assert.deepEqual(
      JSON.parse(svc!.out).workloads,
      ["shop/reviews-v1", "shop/cart", "shop/reviews-v2"].filter((name) => name !== "shop/cart"),
    );
    assert.match(short!.out, /\nnote: cart is taken as shop\/cart\n/);
    assert.deepEqual([absent!.code, near!.code, x!.code], [2, 2, 0]);
    assert.match(absent!.err, /: no workload b\/a; |no pod a\.b/);
    assert.match(near!.err, /no service review\.shop; did you mean reviews\.shop\?\n$/);
    const asked = async (query: string) => {
      const answer = await fetch(`http://127.0.0.1:${ports.http}/debug/describe${query}`);
      return `${answer.status} ${await answer.text()}`;
    };
    assert.match(await asked(""), /^400 expected one of the queries pod and service\n$/);
    assert.match(await asked("?pod=a&service=b"), /^400 /);
  }, { options: { explainer: serverExplainer("cluster.local") } });
});

Deno.test("wrong names get the reason and the nearest name; an error among the findings is exit code 1", async () => {
  const files = {
    "mesh.yaml": MESH,
    "bad.yaml": MESH.split("---").find((one) => one.includes("name: second"))!.replace("host: reviews", "host: nowhere")
      .replaceAll("name: second", "name: bad"),
  };
  const run = (...args: string[]) => pilotDiscovery(["describe", ...args, "-f=."], { files });
  const cases: [string[], RegExp][] = [
    [["pod", "review-v1"], /no pod review-v1; did you mean reviews-v1\.shop\?/],
    [["pod", "reviews-v1.shop", "-n=edge"], /got reviews-v1\.shop and --namespace edge, expected one namespace/],
    [["pod", "rev.shop"], /no workload shop\/rev; did you mean shop\/reviews-v1\?/],
    [["pod", "x", "-n=A_b"], /flag --namespace: got "A_b", expected the name of a namespace/],
    [["pod", "entirely-other.shop"], /no pod entirely-other\.shop is known; namespace shop has reviews-v1\.shop/],
    [["pod"], /expected <name\[\.namespace\]>, got no argument/],
    [["pod", "pod/"], /got no name, expected name\.namespace/],
    [
      ["service", "reviews", "-n=edge"],
      /no service reviews\.edge; did you mean reviews\.shop\?|there are reviews\.shop/,
    ],
    [
      ["service", "reviews.shop", "--registries="],
      /Service shop\/reviews is written, but Services of manifests are part of the mesh only with --registries=File/,
    ],
    [["service", "reviews.shop", "--server=:1"], /got --files and --server, expected one of them/],
  ];
  await Promise.all(cases.map(async ([args, message]) => {
    const { code, out, err } = await run(...args);
    assert.deepEqual({ args, code, out }, { args, code: 2, out: "" });
    assert.match(err, message);
  }));
  const { code, out } = await run("service", "reviews.shop");
  assert.equal(code, out.includes("\nerror MSH") ? 1 : 0);
});

Deno.test("a description fits a terminal, and loses no word", () => {
  const { keys: _, ...shown } = pod("reviews-v1.shop");
  const text = (width: number) => descriptionText({ ...shown, findings: [] }, { ...NO_TERMINAL, width });
  assert.deepEqual(text(60).split(/\s+/), text(Infinity).split(/\s+/));
  const long = text(60).split("\n").filter((line) => line.length > 60);
  assert.deepEqual(long, []);
});
