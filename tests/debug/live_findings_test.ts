import assert from "node:assert/strict";
import type { Finding } from "../../lib/config/finding/finding.ts";
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
  return JSON.parse((await page(port, `/debug/live?object=${key}&wait=30s`)).body);
}

/** What live says of an object, with a sidecar and a gateway connected. */
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

Deno.test("live: an edit of another object that takes an effect away is seen, and one that gives it back", async () => {
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
