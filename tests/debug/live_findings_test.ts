import assert from "node:assert/strict";
import type { Finding } from "../../lib/finding/finding.ts";
import { struct } from "../../lib/pb/wellknown.ts";
import { page, withServer } from "../discovery/running.ts";
import { ROUTER, TestProxy } from "./proxy.ts";

interface Verdict {
  readonly live: number;
  readonly total: number;
  readonly connected: number;
  readonly everywhere: boolean;
  readonly why: readonly string[];
  readonly lost: readonly Finding[];
}

const object = (kind: string, name: string, spec: string) =>
  `apiVersion: networking.mesh.io/v1\nkind: ${kind}\nmetadata: { name: ${name}, namespace: x }\nspec: ${spec}\n`;

const WORLD = {
  "service.yaml": object(
    "ServiceEntry",
    "reviews",
    `{ hosts: [reviews.example.com], ports: [{ number: 80, name: http, protocol: HTTP }], resolution: STATIC,
    endpoints: [{ address: 10.0.0.9, labels: { version: v1 } }] }`,
  ),
  "rule.yaml": object(
    "DestinationRule",
    "reviews",
    "{ host: reviews.example.com, subsets: [{ name: v1, labels: { version: v1 } }] }",
  ),
  "door.yaml": object(
    "Gateway",
    "door",
    `{ servers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: ["*"] }] }`,
  ),
};

const route = (destination: string, gateways = "[mesh]") =>
  object(
    "VirtualService",
    "reviews",
    `{ hosts: [reviews.example.com], gateways: ${gateways}, http: [{ route: [{ destination: ${destination} }] }] }`,
  );

async function verdict(port: number, key: string): Promise<Verdict> {
  return JSON.parse((await page(port, `/debug/live?object=${key}&wait=90s`)).body);
}

/** The verdict of live about an object, with a sidecar and a gateway connected. */
async function verdictOf(files: Readonly<Record<string, string>>, key: string): Promise<Verdict> {
  let found: Verdict | undefined;
  await withServer({ ...WORLD, ...files }, async ({ ports }) => {
    using _sidecar = await TestProxy.attach(ports.grpc);
    using _gateway = await TestProxy.attach(ports.grpc, ROUTER);
    found = await verdict(ports.http, key);
  });
  return found!;
}

const ROUTE = "VirtualService/x/reviews";

Deno.test("live: a route to a subset that exists is in force on the proxies that it concerns", async () => {
  const mesh = await verdictOf({ "a.yaml": route("{ host: reviews.example.com, subset: v1 }") }, ROUTE);
  assert.deepEqual([mesh.live, mesh.total, mesh.connected, mesh.everywhere], [1, 1, 2, true], mesh.why.join());
  const both = await verdictOf({ "a.yaml": route("{ host: reviews.example.com }", "[mesh, door]") }, ROUTE);
  assert.deepEqual([both.live, both.total, both.everywhere], [2, 2, true], both.why.join());
});

Deno.test("live: a subset that does not exist takes the effect away, and why says so", async () => {
  const { everywhere, why, lost } = await verdictOf(
    { "a.yaml": route("{ host: reviews.example.com, subset: v9 }") },
    ROUTE,
  );
  assert.deepEqual([everywhere, lost.map(({ code, name }) => [code, name])], [false, [["MSH0101", "unknown-subset"]]]);
  assert.match(why.join(), /subset does not exist: spec\.http\[0\].*"v9", expected v1.*100 % of/);
});

Deno.test("live: a port that the service lacks takes the effect away", async () => {
  const { everywhere, lost } = await verdictOf(
    { "a.yaml": route("{ host: reviews.example.com, port: { number: 8081 } }") },
    ROUTE,
  );
  assert.deepEqual([everywhere, lost.map(({ name }) => name)], [false, ["unknown-port"]]);
});

Deno.test("live: a route of a gateway that does not exist concerns no proxy", async () => {
  const { everywhere, total, why } = await verdictOf(
    { "a.yaml": route("{ host: reviews.example.com }", "[dor]") },
    ROUTE,
  );
  assert.deepEqual([everywhere, total], [false, 0]);
  assert.match(why[0]!, /none of the 2 connected proxies/);
  assert.match(why[1]!, /gateway does not exist: spec\.gateways\[0\]: "dor"/);
});

Deno.test("live: if a patch replaces a virtual host, its route is in force nowhere, and the patch is in force", async () => {
  const patch = (operation: string) =>
    object(
      "ProxyFilter",
      "other",
      `{ configPatches: [{ applyTo: VIRTUAL_HOST, match: { context: SIDECAR_OUTBOUND, routeConfiguration: { vhost: { name: "reviews.example.com:80" } } },
      patch: { operation: ${operation}, value: { domains: [reviews.example.com], response_headers_to_remove: [server] } } }] }`,
    ).replace("/v1\n", "/v1alpha3\n");
  const files = (operation: string) => ({
    "a.yaml": route("{ host: reviews.example.com }"),
    "patch.yaml": patch(operation),
  });
  const merged = await verdictOf(files("MERGE"), ROUTE);
  assert.deepEqual([merged.everywhere, merged.total], [true, 1], merged.why.join());
  const replaced = await verdictOf(files("REPLACE"), ROUTE);
  assert.deepEqual([replaced.everywhere, replaced.total], [false, 0]);
  const replacing = await verdictOf(files("REPLACE"), "ProxyFilter/x/other");
  assert.deepEqual([replacing.everywhere, replacing.total > 0], [true, true], replacing.why.join());
});

Deno.test("live: a Gateway whose only server lost its port to an older one is not in force", async () => {
  const older = object(
    "Gateway",
    "a-tcp",
    `{ servers: [{ port: { number: 80, name: tcp, protocol: TCP }, hosts: ["*"] }] }`,
  );
  const toOlder = object(
    "VirtualService",
    "tcp",
    "{ hosts: ['*'], gateways: [a-tcp], tcp: [{ route: [{ destination: { host: reviews.example.com } }] }] }",
  );
  const lost = await verdictOf({ "b.yaml": older, "c.yaml": toOlder }, "Gateway/x/door");
  assert.deepEqual([lost.everywhere, lost.lost.map(({ name }) => name)], [false, ["gateway-not-as-written"]]);
  const fine = await verdictOf({}, "Gateway/x/door");
  assert.deepEqual([fine.everywhere, fine.live, fine.total], [true, 1, 1], fine.why.join());
});

Deno.test("live: an edit of another object that takes an effect away is seen, and so is the edit that restores the effect", async () => {
  await withServer(
    { ...WORLD, "a.yaml": route("{ host: reviews.example.com, subset: v1 }") },
    async ({ ports }, folder) => {
      using _sidecar = await TestProxy.attach(ports.grpc);
      assert.equal((await verdict(ports.http, ROUTE)).everywhere, true);
      const rule = WORLD["rule.yaml"];
      Deno.writeTextFileSync(`${folder}/rule.yaml`, rule.replace("name: v1", "name: v2"));
      await verdict(ports.http, "DestinationRule/x/reviews");
      assert.equal((await verdict(ports.http, ROUTE)).everywhere, false);
      Deno.writeTextFileSync(`${folder}/rule.yaml`, rule);
      await verdict(ports.http, "DestinationRule/x/reviews");
      assert.equal((await verdict(ports.http, ROUTE)).everywhere, true);
    },
  );
});

/** A workload without a proxy in the namespace, so that manifests tell of some workloads. */
const OTHER_POD = `apiVersion: apps/v1
kind: Deployment
metadata: { name: other, namespace: x }
spec:
  selector: { matchLabels: { app: other } }
  template: { metadata: { labels: { app: other } }, spec: { containers: [{ name: c, image: i }] } }
`;

/** Kinds with selectors of labels, each with an object for `app: cart`. */
const SELECTING = {
  Gateway:
    `{ selector: { app: cart }, servers: [{ port: { number: 8080, name: http, protocol: HTTP }, hosts: ["*"] }] }`,
  PeerAuthentication: "{ selector: { matchLabels: { app: cart } }, mtls: { mode: PERMISSIVE } }",
  Sidecar: `{ workloadSelector: { labels: { app: cart } }, egress: [{ hosts: ["./*"] }] }`,
  DestinationRule:
    "{ host: reviews.example.com, workloadSelector: { matchLabels: { app: cart } }, trafficPolicy: { loadBalancer: { simple: RANDOM } } }",
};

for (const [kind, spec] of Object.entries(SELECTING)) {
  Deno.test(`${kind}: a selector that matches a connected proxy is not a finding, even if no manifest has such a pod`, async () => {
    const key = `${kind}/x/cart`;
    // A pod of a gateway, so that Gateways are checked.
    const gatewayPod = OTHER_POD.replaceAll("other", "door").replace("name: c,", "name: istio-proxy,");
    const files = {
      ...WORLD,
      "a.yaml": object(kind, "cart", spec).replace(/networking(?=.*\nkind: PeerA)/, "security"),
      "pods.yaml": `${OTHER_POD}---\n${gatewayPod}`,
      "door.yaml": `${WORLD["door.yaml"].replace("servers", "selector: { app: door }, servers")}`,
    };
    await withServer(files, async ({ ports }) => {
      const names = async () => {
        const findings: Finding[] = JSON.parse((await page(ports.http, "/debug/problemz")).body);
        return findings.filter(({ place: { objects } }) => objects[0]?.kind === kind && objects[0].name === "cart")
          .map(({ name }) => name);
      };
      assert.deepEqual(await names(), ["selects-nothing"]);
      const node = { id: kind === "Gateway" ? ROUTER.id : "sidecar~10.0.0.1~a.x~x.svc.cluster.local" };
      const metadata = struct({ LABELS: { app: "cart" } });
      using _cart = await TestProxy.attach(ports.grpc, { ...node, metadata });
      assert.deepEqual(await names(), []);
      const { lost, everywhere, why } = await verdict(ports.http, key);
      assert.deepEqual([lost, everywhere], [[], true], why.join());
    });
  });
}
