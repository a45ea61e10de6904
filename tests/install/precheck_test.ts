/** The check before an installation: each result, by facts of a cluster. */
import assert from "node:assert/strict";
import { precheck } from "../../lib/install/precheck/checks.ts";
import {
  API_VERSION_ANSWER,
  type ClusterFacts,
  DEFINED_KIND,
  MUTATING_WEBHOOKS,
  NAMESPACE_OBJECT,
  NODE_OBJECT,
  POD_OBJECT,
  SERVICE_OBJECT,
} from "../../lib/install/precheck/facts.ts";

const FACTS: ClusterFacts = {
  version: API_VERSION_ANSWER.parse({ major: "1", minor: "33+", gitVersion: "v1.33.1" }),
  ...{ rights: [], definitions: [], webhooks: [], planned: [], namespaces: [], kinds: [], ownVersion: "1.4.0" },
};

function results(facts: Partial<ClusterFacts>, check: string) {
  return precheck({ ...FACTS, ...facts }).filter((one) => one.check === check).map(({ state, message }) =>
    `${state} ${message}`
  );
}

Deno.test("versions of a cluster that refuse definitions or lack native sidecars are told", () => {
  const of = (minor: string) =>
    results({ version: { ...FACTS.version, minor, gitVersion: `v1.${minor}.0` } }, "orchestrator version");
  assert.match(of("24")[0]!, /^error got v1\.24\.0, expected 1\.25 or later/);
  assert.match(of("28")[0]!, /^warning v1\.28\.0 has no native sidecars/);
  assert.match(of("x")[0]!, /^error/);
  assert.deepEqual(of("33+"), ["ok v1.33+.0"]);
});

Deno.test("proxies more than one minor version away are named; those that report none are not", () => {
  const proxies = [["a.shop", "1.3.2"], ["b.shop", "v1.2.0"], ["c.shop", ""], ["d.shop", "1.5.0-dev"], [
    "e.shop",
    "2.4.0",
  ]]
    .map(([name = "", version = ""]) => ({ name, version }));
  assert.match(
    results({ proxies }, "proxies")[0]!,
    /^warning b\.shop \(v1\.2\.0\), e\.shop \(2\.4\.0\): more than 1 minor/,
  );
  assert.deepEqual(results({ proxies: proxies.slice(0, 1) }, "proxies"), ["ok 1 connected proxies fit 1.4.0"]);
  assert.deepEqual(results({}, "proxies"), []);
});

Deno.test("nodes that cannot run the plugin are named with the reason", () => {
  const node = (name: string, nodeInfo: object) => NODE_OBJECT.parse({ metadata: { name }, status: { nodeInfo } });
  const linux = { operatingSystem: "linux", architecture: "amd64", kernelVersion: "6.1.0-13-amd64" };
  const nodes = [
    node("good", linux),
    node("windows", { ...linux, operatingSystem: "windows" }),
    node("risc", { ...linux, architecture: "riscv64" }),
    node("old", { ...linux, kernelVersion: "4.4.0" }),
  ];
  assert.match(
    results({ nodes }, "nodes")[0]!,
    /^warning windows runs windows, risc is riscv64, old has Linux 4\.4\.0, expected Linux 4\.11/,
  );
  assert.deepEqual(results({ nodes: nodes.slice(0, 1) }, "nodes"), ["ok all 1 can run the node's plugin"]);
});

Deno.test("a definition without a version that is read is an error, and the Gateway API before v1, too", () => {
  const defined = (name: string, version: string, served = true) =>
    DEFINED_KIND.parse({ metadata: { name }, spec: { versions: [{ name: version, served }] } });
  const kinds = [{ definitions: ["a.mesh.io", "a.istio.io"], versions: ["v1", "v1beta1"], fields: ["hosts"] }];
  const of = (...definitions: ReturnType<typeof defined>[]) => results({ kinds, definitions }, "definitions");
  assert.match(of()[0]!, /^warning a\.mesh\.io is not defined/);
  assert.match(of(defined("a.istio.io", "v2"))[0]!, /^error a\.istio\.io serves v2, expected one of v1, v1beta1/);
  assert.match(of(defined("a.istio.io", "v1", false))[0]!, /^error a\.istio\.io serves no version/);
  assert.match(of(defined("a.istio.io", "v1beta1"))[0]!, /^ok /);
  const gateways = defined("gateways.gateway.networking.k8s.io", "v1beta1");
  assert.match(results({ definitions: [gateways] }, "Gateway API")[0]!, /^error .* serves v1beta1, expected v1$/);
});

Deno.test("an upgrade replaces its own webhooks, and webhooks that inject nothing are no conflict", () => {
  const webhook = (name: string, path: string, resource = "pods") =>
    MUTATING_WEBHOOKS.parse({
      metadata: { name },
      webhooks: [{
        name: "hook.example",
        clientConfig: { service: { namespace: "x", name: "y", path } },
        rules: [{ operations: ["CREATE"], resources: [resource] }],
      }],
    });
  const namespaces = [NAMESPACE_OBJECT.parse({ metadata: { name: "shop" } })];
  const planned = [webhook("mesh-injector", "/inject")];
  const of = (...webhooks: ReturnType<typeof webhook>[]) =>
    results({ namespaces, planned, webhooks }, "injection webhooks");
  assert.deepEqual(of(webhook("mesh-injector", "/inject")), ["ok no other one"]);
  assert.deepEqual(of(webhook("defaults", "/mutate"), webhook("other", "/inject", "services")), ["ok no other one"]);
  assert.deepEqual(of(webhook("linkerd", "/inject")), [
    "error linkerd and mesh-injector would both inject pods of shop",
  ]);
});

const INJECTOR = MUTATING_WEBHOOKS.parse({
  metadata: { name: "mesh-injector", labels: { "mesh.io/rev": "default" } },
  webhooks: [{
    name: "inject.mesh.io",
    clientConfig: { service: { namespace: "mesh-system", name: "meshd", path: "/inject" } },
    rules: [{ operations: ["CREATE"], resources: ["pods"] }],
    namespaceSelector: { matchLabels: { "istio-injection": "enabled" } },
  }],
});
const NAMESPACES = [
  NAMESPACE_OBJECT.parse({ metadata: { name: "shop", labels: { "istio-injection": "enabled" } } }),
  NAMESPACE_OBJECT.parse({ metadata: { name: "outside" } }),
];

interface PodDraft {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: object;
  readonly phase?: string;
}

function pod(name: string, ports: readonly (number | object)[], draft: PodDraft = {}) {
  const { namespace = "shop", labels = {}, annotations = {}, spec = {}, phase = "Running" } = draft;
  const of = ports.map((one) => typeof one === "number" ? { containerPort: one } : one);
  return POD_OBJECT.parse({
    metadata: { name, namespace, labels, annotations },
    spec: { containers: [{ name: "app", ports: of }], ...spec },
    status: { phase },
  });
}

Deno.test("containers of pods to inject with a port of the proxy are errors; other pods, transports and the proxy itself are not", () => {
  const of = (...pods: ReturnType<typeof pod>[]) =>
    results({ pods, planned: [INJECTOR], namespaces: NAMESPACES }, "proxy ports");
  const clash = (port: number, user: string, name = "a") =>
    `error shop/${name}: container app: containerPort: got ${port}, expected another port: ${user} of the proxy is there`;
  const rows: readonly (readonly [port: number, user: string])[] = [
    [15000, "proxyAdminPort"],
    [15001, "outbound traffic"],
    [15004, "variable PROXY_XDS_DEBUG_VIA_AGENT_PORT"],
    [15006, "inbound traffic"],
    [15008, "tunnels"],
    [15020, "statusPort"],
    [15021, "variable PROXY_STATUS_PORT"],
    [15090, "variable PROXY_METRICS_PORT"],
  ];
  for (const [port, user] of rows) assert.deepEqual(of(pod("a", [80, port])), [clash(port, user)]);
  assert.match(of(pod("a", [15053]))[0]!, /^warning .* got 15053, expected another port: DNS of the agent/);
  const fineOnes = [
    pod("outside", [15006], { namespace: "outside" }),
    pod("out", [15006], { labels: { "sidecar.istio.io/inject": "false" } }),
    pod("node", [15006], { spec: { hostNetwork: true } }),
    pod("over", [15006], { phase: "Succeeded" }),
    pod("udp", [{ containerPort: 15006, protocol: "UDP" }]),
    pod("moved", [15020], { annotations: { "status.sidecar.istio.io/port": "15022" } }),
    pod("admin", [15000], { annotations: { "proxy.istio.io/config": "proxyAdminPort: 15022" } }),
    pod("injected", [], { spec: { containers: [{ name: "istio-proxy", ports: [{ containerPort: 15090 }] }] } }),
  ];
  assert.deepEqual(of(...fineOnes), ["ok no container of the 4 pods to inject has a port of the proxy"]);
  // The port that the annotation names is the agent's.
  const annotations = { "status.sidecar.istio.io/port": "9999" };
  assert.deepEqual(of(pod("a", [9999], { annotations })), [clash(9999, "statusPort")]);
  const initContainers = [{ name: "app", restartPolicy: "Always", ports: [{ containerPort: 15001 }] }];
  assert.deepEqual(of(pod("a", [], { spec: { containers: [], initContainers } })), [clash(15001, "outbound traffic")]);
});

Deno.test("a workload is one result, of many workloads the first are told and the rest is counted, errors first", () => {
  const of = (pods: readonly ReturnType<typeof pod>[]) =>
    results({ pods, planned: [INJECTOR], namespaces: NAMESPACES }, "proxy ports");
  const replica = (name: string) => {
    const one = pod(name, [15001], { labels: { "pod-template-hash": "abc" } });
    const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "cart-abc", controller: true };
    return { ...one, metadata: { ...one.metadata, ownerReferences: [owner] } };
  };
  const [only, ...more] = of([replica("cart-abc-1"), replica("cart-abc-2")]);
  assert.match(only!, /^error shop\/cart: /);
  assert.deepEqual(more, []);
  const many = of([pod("dns", [15053]), ...Array.from({ length: 40 }, (_, at) => pod(`w${at}`, [15001]))]);
  assert.equal(many.length, 9);
  assert.ok(many.slice(0, 8).every((one) => one.startsWith("error shop/w")), many.join("\n"));
  assert.equal(many[8], "error 33 more ports of containers are ports of the proxy or its agent");
});

function service(name: string, ports: readonly object[], spec: object = {}, namespace = "shop") {
  return SERVICE_OBJECT.parse({ metadata: { name, namespace }, spec: { ports, ...spec } });
}

Deno.test("ports of Services without a protocol are a warning with what is written, bounded", () => {
  const of = (...services: ReturnType<typeof service>[]) => results({ services }, "service protocols");
  const [said] = of(
    service("a", [{ port: 80 }, { port: 81, name: "http-web" }, { port: 82, name: "web" }]),
    service("b", [{ port: 83, name: "http", appProtocol: "example.com/own" }]),
  );
  assert.equal(
    said,
    "warning spec.ports: got shop/a 80 (no name), shop/a 82 (name web), shop/b 83 (appProtocol example.com/own), " +
      "expected a name that begins with a protocol (http-..., grpc-..., tcp-...), or appProtocol",
  );
  const declared = [
    service("a", [{ port: 80, appProtocol: "http" }, { port: 3306 }, { port: 99, protocol: "UDP" }]),
    service("gateway", [{ port: 15021, name: "status-port" }]),
    service("away", [{ port: 80 }], { type: "ExternalName" }),
    service("dns", [{ port: 80 }], {}, "kube-system"),
  ];
  assert.deepEqual(of(...declared), ["ok the ports of 2 Services declare their protocols"]);
  const many = of(...Array.from({ length: 100 }, (_, at) => service(`s${at}`, [{ port: 80 }])));
  assert.equal(many.length, 1);
  assert.match(many[0]!, /shop\/s7 80 \(no name\) and 92 more, expected/);
});

Deno.test("two Services that declare different protocols for one port of a pod are a warning", () => {
  const selector = { app: "a" };
  const labels = { app: "a", version: "v1" };
  const pods = [pod("a-1", [{ containerPort: 8080, name: "web" }], { labels })];
  const of = (...services: ReturnType<typeof service>[]) => results({ services, pods }, "shared ports");
  const web = service("web", [{ port: 80, name: "http", targetPort: "web" }], { selector });
  const raw = service("raw", [{ port: 9000, name: "tcp", targetPort: 8080 }], { selector });
  const reported = "warning shop/a-1: port 8080: got HTTP by shop/web, TCP by shop/raw, expected one protocol";
  assert.deepEqual(of(web, raw), [reported]);
  const agree = [
    service("b", [{ port: 81, name: "http-b", targetPort: 8080 }], { selector }),
    service("udp", [{ port: 8080, protocol: "UDP" }], { selector }),
    service("other", [{ port: 8080, name: "tcp" }], { selector: { app: "b" } }),
    service("elsewhere", [{ port: 8080, name: "tcp" }], { selector }, "outside"),
    service("no-selector", [{ port: 8080, name: "tcp" }]),
  ];
  assert.deepEqual(of(web, ...agree), ["ok the Services of each workload agree about its ports"]);
  assert.match(of(web, service("silent", [{ port: 8080 }], { selector }))[0]!, /HTTP by shop\/web, undeclared by/);
});

Deno.test("what this user may not list is told as not checked", () => {
  const message = (what: string) => [`warning not checked: this user may not list ${what} of all namespaces`];
  assert.deepEqual(results({}, "proxy ports"), message("pods"));
  assert.deepEqual(results({}, "service protocols"), message("Services"));
  assert.deepEqual(results({ services: [] }, "shared ports"), message("pods"));
});
