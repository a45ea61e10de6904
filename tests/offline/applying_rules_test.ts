/** Among several objects for a host, the winner is chosen among the objects that apply to the asking workload. */
import assert from "node:assert/strict";
import { checked, resourcesOf, wayOf } from "./way.ts";

/** A service of two versions, and clients of two namespaces. */
const WORLD = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: own, namespace: prod }
spec:
  hosts: [own.prod.svc.cluster.local]
  location: MESH_INTERNAL
  addresses: [10.8.3.1]
  resolution: STATIC
  ports: [{ number: 8000, name: http, protocol: HTTP, targetPort: 9080 }]
  endpoints: [{ address: 10.9.1.1, labels: { version: v1 } }, { address: 10.9.1.2, labels: { version: v2 } }]
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: { name: app-1, namespace: client }
spec: { address: 10.9.0.2, labels: { app: client } }
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: { name: batch-1, namespace: client }
spec: { address: 10.9.0.22, labels: { app: batch } }
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: { name: other-1, namespace: other }
spec: { address: 10.9.0.32, labels: { app: other } }
`;

const object = (kind: string, namespace: string, name: string, spec: object) =>
  `---\n${JSON.stringify({ apiVersion: "networking.istio.io/v1", kind, metadata: { namespace, name }, spec })}\n`;

const rule = (namespace: string, name: string, spec: object) =>
  object("DestinationRule", namespace, name, { host: "own.prod.svc.cluster.local", ...spec });

const subset = (version: string) => ({ subsets: [{ name: "chosen", labels: { version } }] });

const forBatch = { workloadSelector: { matchLabels: { app: "batch" } } };

const route = (namespace: string, name: string, spec: object = {}) =>
  object("VirtualService", namespace, name, {
    hosts: ["own.prod.svc.cluster.local"],
    http: [{ route: [{ destination: { host: "own.prod.svc.cluster.local", subset: "chosen" } }] }],
    ...spec,
  });

const ROUTE = route("prod", "own");

const ask = (yaml: string, from: string) => wayOf(yaml, from, "http://own.prod:8000/");

Deno.test("a rule for other workloads of the client's namespace hides no rule of the service's namespace", async () => {
  const yaml = WORLD + ROUTE + rule("prod", "own", subset("v1")) +
    rule("client", "batch", { ...forBatch, ...subset("v2") });
  assert.equal(await ask(yaml, "client/app-1"), "chosen of own.prod:8000 > 10.9.1.1:9080");
  assert.equal(await ask(yaml, "client/batch-1"), "chosen of own.prod:8000 > 10.9.1.2:9080");
  assert.deepEqual(checked(yaml).map(({ message }) => message), []);
});

Deno.test("nor one of its own namespace for a wildcard, nor one of the root namespace", async () => {
  const batch = rule("client", "batch", { ...forBatch, ...subset("v2") });
  const wide = rule("client", "wide", { host: "*.prod.svc.cluster.local", ...subset("v1") });
  assert.equal(await ask(WORLD + ROUTE + batch + wide, "client/app-1"), "chosen of own.prod:8000 > 10.9.1.1:9080");
  const root = rule("istio-system", "root", subset("v1"));
  assert.equal(await ask(WORLD + ROUTE + batch + root, "client/app-1"), "chosen of own.prod:8000 > 10.9.1.1:9080");
  assert.equal(await ask(WORLD + ROUTE + batch + root, "client/batch-1"), "chosen of own.prod:8000 > 10.9.1.2:9080");
});

Deno.test("rules that are for gateways alone hide no rules of a younger object from sidecars", async () => {
  const gateway = "prod/door";
  const older = route("prod", "a", {
    gateways: ["mesh", gateway],
    http: [{ match: [{ gateways: [gateway] }], fault: { abort: { httpStatus: 418, percentage: { value: 100 } } } }],
  });
  const yaml = WORLD + older + route("prod", "b") + rule("prod", "own", subset("v2"));
  assert.equal(await ask(yaml, "client/app-1"), "chosen of own.prod:8000 > 10.9.1.2:9080");
  assert.deepEqual(checked(yaml).filter(({ name }) => name === "hidden-rules"), []);
});

/** An object with 418 as the answer of its rules. */
const teapot = (match: object, name = "a") =>
  route("prod", name, { http: [{ match: [match], directResponse: { status: 418 } }] });

/** An older object with 418 as its answer, and a younger object that leads to the service. */
const shared = (match: object) => teapot(match) + route("prod", "b") + rule("prod", "own", subset("v2"));

Deno.test("rules for workloads by label hide a younger object's rules from these workloads alone", async () => {
  const yaml = WORLD + shared({ sourceLabels: { app: "batch" } });
  assert.equal(await ask(yaml, "client/batch-1"), "no cluster > 418");
  assert.equal(await ask(yaml, "client/app-1"), "chosen of own.prod:8000 > 10.9.1.2:9080");
  assert.equal(await ask(yaml, "other/other-1"), "chosen of own.prod:8000 > 10.9.1.2:9080");
  assert.deepEqual(checked(yaml).map(({ message }) => message), []);
});

Deno.test("rules for workloads by namespace hide a younger object's rules from these workloads alone", async () => {
  const yaml = WORLD + shared({ sourceNamespace: "other" });
  assert.equal(await ask(yaml, "other/other-1"), "no cluster > 418");
  assert.equal(await ask(yaml, "client/app-1"), "chosen of own.prod:8000 > 10.9.1.2:9080");
  assert.deepEqual(checked(yaml).map(({ message }) => message), []);
});

Deno.test("an object for the host with rules for other workloads leaves the rules of a wildcard over the host in force", async () => {
  const wide = route("prod", "wide", {
    hosts: ["*.prod.svc.cluster.local"],
    http: [{ directResponse: { status: 299 } }],
  });
  const yaml = WORLD + teapot({ sourceLabels: { app: "batch" } }) + wide + rule("prod", "own", subset("v2"));
  assert.equal(await ask(yaml, "client/batch-1"), "no cluster > 418");
  assert.match(await ask(yaml, "client/app-1"), /> 299$/);
});

Deno.test("rules for workloads of which an older object takes all are hidden, and found", async () => {
  const narrow = { sourceLabels: { app: "batch", tier: "night" } };
  const younger = route("prod", "b", {
    http: [{ match: [narrow], route: [{ destination: { host: "own.prod.svc.cluster.local" } }] }],
  });
  const older = teapot({ sourceLabels: { app: "batch" } });
  const yaml = WORLD.replace("app: batch", "app: batch, tier: night") + older + younger +
    rule("prod", "own", subset("v2"));
  assert.equal(await ask(yaml, "client/batch-1"), "no cluster > 418");
  assert.deepEqual(
    checked(yaml).filter(({ name }) => name === "hidden-rules").map(({ place }) => place.objects[0]?.name),
    [
      "b",
    ],
  );
});

Deno.test("rules for another port hide no rules of a younger object", async () => {
  const yaml = WORLD + shared({ port: 9000 });
  assert.equal(await ask(yaml, "client/app-1"), "chosen of own.prod:8000 > 10.9.1.2:9080");
  assert.deepEqual(checked(yaml).filter(({ name }) => name === "hidden-rules"), []);
  assert.equal(await ask(WORLD + shared({ port: 8000 }), "client/app-1"), "no cluster > 418");
});

Deno.test("rules for a port are hidden by older rules for this port, and found", () => {
  const yaml = (port: number) => WORLD + teapot({ port: 8000 }) + teapot({ port, sourceLabels: { app: "batch" } }, "b");
  const hidden = (port: number) =>
    checked(yaml(port)).filter(({ name }) => name === "hidden-rules").map(({ place }) => place.objects[0]?.name);
  assert.deepEqual(hidden(8000), ["b"]);
  assert.deepEqual(hidden(8001), []);
});

Deno.test("a host that only rules name is answered on each port by the object with rules for the workload and port", async () => {
  const named = (name: string, status: number, match: object) =>
    object("VirtualService", "prod", name, {
      hosts: ["only.example.com", "own.prod.svc.cluster.local"],
      http: [{ match: [match], directResponse: { status } }],
    });
  // Some service makes sidecars listen on port 80.
  const web = WORLD.split("---\n")[0]!.replace("own, namespace", "web, namespace").replace("[own.", "[web.")
    .replace("10.8.3.1", "10.8.3.2").replace("number: 8000", "number: 80");
  const yaml = WORLD + "---\n" + web + named("a", 418, { sourceLabels: { app: "batch" } }) +
    named("b", 419, { port: 80 }) +
    named("c", 420, {});
  const asked = (from: string, port: number) => wayOf(yaml, from, `http://only.example.com:${port}/`);
  assert.equal(await asked("client/batch-1", 8000), "no cluster > 418");
  assert.equal(await asked("client/batch-1", 80), "no cluster > 418");
  assert.equal(await asked("client/app-1", 80), "no cluster > 419");
  assert.equal(await asked("client/app-1", 8000), "no cluster > 420");
});

Deno.test("bytes: rules for other workloads leave the rules of a younger object", async () => {
  const bytes = WORLD.replace("name: http, protocol: HTTP", "name: tcp, protocol: TCP");
  const to = (version: string, match?: object) => ({
    http: undefined,
    tcp: [{
      ...(match ? { match: [match] } : {}),
      route: [{ destination: { host: "own.prod.svc.cluster.local", subset: version } }],
    }],
  });
  const subsets = rule("prod", "own", {
    subsets: ["v1", "v2"].map((version) => ({ name: version, labels: { version } })),
  });
  const yaml = bytes + route("prod", "a", to("v1", { sourceLabels: { app: "batch" } })) +
    route("prod", "b", to("v2")) + subsets;
  const asked = (from: string) => wayOf(yaml, from, "tcp://own.prod:8000");
  assert.equal(await asked("client/batch-1"), "v1 of own.prod:8000 > 10.9.1.1:9080");
  assert.equal(await asked("client/app-1"), "v2 of own.prod:8000 > 10.9.1.2:9080");
});

/** Expectation and advice in findings about subsets. */
const about = (yaml: string) =>
  checked(yaml).filter(({ name }) => name === "hidden-subset").map(({ severity, expected, fix }) =>
    `${severity}: ${expected}. ${fix}`
  );

Deno.test("a hidden subset: the finding names the rule that decides, and its advice ends it", async () => {
  const winner = (spec: object) => rule("client", "limits", { trafficPolicy: { outlierDetection: {} }, ...spec });
  const yaml = (spec: object) => WORLD + route("client", "own") + rule("prod", "own", subset("v1")) + winner(spec);
  assert.equal(await ask(yaml({}), "client/app-1"), "chosen of own.prod:8000 > 503");
  assert.deepEqual(about(yaml({})), [
    "warning: a subset in force for namespace client (DestinationRule client/limits decides there, not DestinationRule prod/own). Define subset chosen in DestinationRule client/limits.",
  ]);
  assert.deepEqual(about(yaml(subset("v2"))), []);
  assert.equal(await ask(yaml(subset("v2")), "client/app-1"), "chosen of own.prod:8000 > 10.9.1.2:9080");
});

Deno.test("a subset that is hidden from clients of another namespace, or from chosen workloads, is found too", async () => {
  const limits = { trafficPolicy: { outlierDetection: {} } };
  const elsewhere = WORLD + ROUTE + rule("prod", "own", subset("v1")) + rule("other", "limits", limits);
  assert.equal(await ask(elsewhere, "other/other-1"), "chosen of own.prod:8000 > 503");
  assert.deepEqual(about(elsewhere), [
    "warning: a subset in force for namespace other (DestinationRule other/limits decides there, not DestinationRule prod/own). Define subset chosen in DestinationRule other/limits.",
  ]);
  const chosen = WORLD + ROUTE + rule("prod", "own", subset("v1")) +
    rule("client", "batch", { ...forBatch, ...limits });
  assert.equal(await ask(chosen, "client/batch-1"), "chosen of own.prod:8000 > 503");
  assert.deepEqual(about(chosen), [
    "warning: a subset in force for all workloads of namespace client (DestinationRule client/batch decides for workloads with app=batch, not DestinationRule prod/own). Define subset chosen in DestinationRule client/batch.",
  ]);
});

Deno.test("where no rule decides, the finding names the clients of the subset, and following its advice ends the finding", async () => {
  const yaml = (exportTo: string[]) =>
    WORLD + route("client", "own") + rule("prod", "own", { exportTo, ...subset("v1") });
  assert.equal(await ask(yaml(["prod"]), "client/app-1"), "chosen of own.prod:8000 > 503");
  assert.deepEqual(about(yaml(["prod"])), [
    "warning: a subset in force for namespace client (DestinationRule prod/own is only for clients of namespace prod). Add namespace client to exportTo of DestinationRule prod/own.",
  ]);
  assert.equal(await ask(yaml(["prod", "client"]), "client/app-1"), "chosen of own.prod:8000 > 10.9.1.1:9080");
  assert.deepEqual(about(yaml(["prod", "client"])), []);
});

Deno.test("a server keeps the limits of the rule for all clients, whatever rule for chosen clients its labels match", () => {
  const limit = (maxConnections: number) => ({ trafficPolicy: { connectionPool: { tcp: { maxConnections } } } });
  const server = object("WorkloadEntry", "prod", "own-1", { address: "10.9.1.1", labels: { app: "own" } });
  const yaml = WORLD + server + rule("prod", "all", limit(31)) +
    rule("prod", "own", { workloadSelector: { matchLabels: { app: "own" } }, ...limit(5) });
  const { clusters = [] } = resourcesOf(yaml, "prod/own-1", ["cds"]);
  const limits = (name: string) => JSON.stringify(clusters.find((one) => one.name === name));
  assert.match(limits("outbound|8000||own.prod.svc.cluster.local"), /"max_connections":5\b/);
  assert.match(limits("inbound|9080||"), /"max_connections":31\b/);
});
