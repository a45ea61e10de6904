import * as grpc from "@grpc/grpc-js";
import assert from "node:assert/strict";
import { type Finding, findingFile } from "../../lib/finding/finding.ts";
import { encode } from "../../lib/pb/codec.ts";
import { contents, Fixture, texts } from "./fixture.ts";
import { page, withServer } from "./running.ts";
import { TrappedRegistry } from "./trapped_registry.ts";

// --- objects in a real folder ---

const entry = (name: string) =>
  `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: x }
spec:
  hosts: [${name}.example.com]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.1 }]
`;

const rule = (spec: string, name = "hostile") =>
  `apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: ${name}, namespace: x }
spec:
${spec.split("\n").map((line) => `  ${line}`).join("\n")}
`;

const route = "route: [{ destination: { host: a.example.com } }]";
const laughs = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
for (let i = 1; i < 12; i++) {
  laughs.push(`a${i}: &a${i} [${Array(10).fill(`*a${i - 1}`).join(", ")}]`);
}

/** Files of a hostile or careless author. */
const HOSTILE: Readonly<Record<string, string>> = {
  "huge.yaml": entry("huge").replace("hosts: [", `hosts: [${"h.example.com, ".repeat(200_000)}`),
  "long-name.yaml": entry("n".repeat(100_000)),
  "deep-flow.yaml": rule(`http: ${"[".repeat(20_000)}${"]".repeat(20_000)}`),
  "deep-block.yaml": rule(Array.from({ length: 3000 }, (_, i) => `${" ".repeat(i)}a:`).join("\n")),
  "deep.json": `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`,
  "laughs.yaml": rule(`${laughs.join("\n")}\nhosts: *a11`),
  "cycle.yaml": rule("hosts: &h [*h]"),
  "prototype.yaml": rule(`__proto__: { polluted: true }\nhosts: [p.example.com]\nhttp: [{ ${route} }]`),
  "prototype.json":
    '{"apiVersion":"networking.mesh.io/v1","kind":"VirtualService","metadata":{"name":"p","namespace":"x",' +
    '"labels":{"__proto__":{"polluted":true}}},"spec":{"constructor":{"prototype":{"polluted":true}},"hosts":["p.com"]}}',
  "kind.yaml": "apiVersion: networking.mesh.io/v1\nkind: __proto__\nmetadata: { name: a }\nspec: {}\n",
  "bomb.yaml": rule(
    `hosts: [b.example.com]\nhttp: [{ match: [{ uri: { regex: "((a{0,1000}){0,1000}){0,1000}" } }], ${route} }]`,
  ),
  "backtrack.yaml": rule(
    `hosts: [b.example.com]\nhttp: [{ match: [{ uri: { regex: "(?=(a+)+$)\\\\1" } }], ${route} }]`,
    "backtrack",
  ),
  "control.yaml": "\u0000\u0001\u0002: \u0003",
  "binary.json": String.fromCharCode(...Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256)),
  "half.yaml": entry("half").slice(0, 120),
};

Deno.test("hostile files beside a good one: each is refused or counted, and named, and the good one is served", async () => {
  await withServer({ "good.yaml": entry("a"), ...HOSTILE }, async ({ ports, pipeline }, folder) => {
    const services = JSON.parse((await page(ports.http, "/debug/registryz")).body) as { hostname: string }[];
    assert.deepEqual(services.map((s) => s.hostname), ["a.example.com"]);
    const findings = JSON.parse((await page(ports.http, "/debug/problemz")).body) as Finding[];
    const named = new Set(findings.filter((p) => p.severity === "error").map((p) => findingFile(p)));
    // Texts unlike an object are counted.
    const [{ passedOver }] = JSON.parse((await page(ports.http, "/debug/passed_over")).body);
    assert.deepEqual(passedOver, [{
      what: "other text",
      count: 3,
      files: ["binary.json", "control.yaml", "deep.json"],
    }]);
    for (const { files } of passedOver) for (const file of files) named.add(file);
    assert.deepEqual(Object.keys(HOSTILE).filter((file) => !named.has(file)), [], "every hostile file is named");
    assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
    const long = findings.filter((p) => JSON.stringify(p).length > 10_000).map((p) => findingFile(p));
    assert.deepEqual(long, [], "no page full of input");

    // Beside the hostile files, an edit still comes through.
    const pushed = new Promise<readonly string[]>((resolve) =>
      pipeline.onPush((push) => resolve(push.objects.map(({ key }) => key)))
    );
    await Deno.writeTextFile(`${folder}/good.yaml`, entry("a").replace("10.0.0.1", "10.0.0.2"));
    assert.deepEqual(await pushed, ["ServiceEntry/x/a"]);
  });
});

Deno.test("a good object that becomes hostile keeps its last good version", async () => {
  await withServer({ "a.yaml": entry("a"), "b.yaml": entry("b") }, async ({ ports, pipeline }, folder) => {
    const pushed = new Promise<readonly string[]>((resolve) =>
      pipeline.onPush((push) => resolve(push.objects.map(({ key }) => key)))
    );
    await Deno.writeTextFile(
      `${folder}/a.yaml`,
      rule(`${laughs.join("\n")}\nhosts: *a11`, "a").replace("VirtualService", "ServiceEntry"),
    );
    await Deno.writeTextFile(`${folder}/b.yaml`, entry("b").replace("10.0.0.1", "10.0.0.2"));
    assert.ok((await pushed).includes("ServiceEntry/x/b"));
    const services = JSON.parse((await page(ports.http, "/debug/registryz")).body) as { hostname: string }[];
    assert.deepEqual(services.map((s) => s.hostname), ["a.example.com", "b.example.com"]);
  });
});

// --- nodes ---

const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
const CLUSTERS = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const same = (bytes: Uint8Array) => Buffer.from(bytes);

function ask(port: number, node: object | Uint8Array | undefined): Promise<string | grpc.StatusObject> {
  const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), {
    "grpc.use_local_subchannel_pool": 1,
  });
  const call = client.makeBidiStreamRequest(ADS, same, same, new grpc.Metadata());
  const outcome = new Promise<string | grpc.StatusObject>((resolve) => {
    call.on("data", () => resolve("answer"));
    call.on("error", () => {});
    call.on("status", resolve);
  });
  call.write(
    node instanceof Uint8Array
      ? node
      : encode("envoy.service.discovery.v3.DeltaDiscoveryRequest", { type_url: CLUSTERS, ...(node && { node }) }),
  );
  return outcome.finally(() => client.close());
}

const id = "sidecar~10.0.0.1~a.x~x.svc.cluster.local";
const text = (stringValue: string) => ({ stringValue });
const fields = (values: object) => ({ metadata: { fields: values } });

function nested(depth: number): object {
  let value: object = text("x");
  for (let i = 0; i < depth; i++) value = { structValue: { fields: { a: value } } };
  return value;
}

/** Head of one length-delimited field, by hand: encoders refuse such deep values. */
function fieldHead(number: number, size: number): number[] {
  const length: number[] = [];
  for (let rest = size; rest > 0 || length.length === 0; rest >>= 7) length.push((rest & 127) | (rest > 127 ? 128 : 0));
  return [number << 3 | 2, ...length];
}

function field(number: number, value: Uint8Array): Uint8Array {
  return new Uint8Array([...fieldHead(number, value.length), ...value]);
}

/** A request with deep metadata, put together from the inside. */
function deepNode(depth: number): Uint8Array {
  const utf8 = new TextEncoder();
  const key = field(1, utf8.encode("a"));
  const parts = [field(3, utf8.encode("x"))];
  let size = parts[0]!.length;
  const wrap = (number: number, before: Uint8Array = new Uint8Array()) => {
    const head = new Uint8Array([...fieldHead(number, size + before.length), ...before]);
    parts.push(head);
    size += head.length;
  };
  for (let i = 0; i <= depth; i++) {
    wrap(2); // the value of a map entry
    wrap(1, key); // the entry
    wrap(i === depth ? 3 : 5); // a struct: as the node's metadata, or as a value
  }
  wrap(1, field(1, utf8.encode(id)));
  return new Uint8Array([...parts.reverse().flatMap((part) => [...part]), ...field(2, utf8.encode(CLUSTERS))]);
}

function labels(count: number): object {
  const entries = Array.from({ length: count }, (_, i) => [`l${i}`, text("v")]);
  return { structValue: { fields: Object.fromEntries(entries) } };
}

const NODES: readonly (readonly [string, object | undefined, RegExp])[] = [
  ["no node", undefined, /node/],
  ["an empty node", {}, /node\.id: .* got none/],
  ["a malformed id", { id: "me" }, /node id "me"/],
  ["an unknown type", { id: id.replace("sidecar", "__proto__") }, /__proto__/],
  ["a malformed address", { id: id.replace("10.0.0.1", "10.0.0.999") }, /10\.0\.0\.999/],
  ["labels that are text", { id, ...fields({ LABELS: text("app=a") }) }, /LABELS/],
  ["labels that are lists", { id, ...fields({ LABELS: { listValue: { values: [text("a")] } } }) }, /LABELS/],
  ["a namespace that is a list", { id, ...fields({ NAMESPACE: { listValue: { values: [text("a")] } } }) }, /NAMESPACE/],
  ["metadata of more than a megabyte", { id, ...fields({ EXTRA: text("x".repeat(1 << 20)) }) }, /at most 1048576/],
  ["10,000 labels", { id, ...fields({ LABELS: labels(10_000) }) }, /5000 fields and values/],
  ["malformed addresses", { id, ...fields({ INSTANCE_IPS: text("1.2.3.4,nope") }) }, /INSTANCE_IPS/],
];

const HARMLESS: readonly (readonly [string, object])[] = [
  ["prototype keys", {
    id,
    ...fields({
      ["__proto__"]: { structValue: { fields: { polluted: text("yes") } } },
      constructor: text("x"),
      LABELS: { structValue: { fields: { ["__proto__"]: text("x"), constructor: text("y") } } },
    }),
  }],
  ["metadata that nobody reads, half a megabyte of it", { id, ...fields({ EXTRA: text("x".repeat(1 << 19)) }) }],
  ["metadata that nobody reads, 40 levels deep", { id, ...fields({ EXTRA: nested(40) }) }],
  ["2,000 labels", { id, ...fields({ LABELS: labels(2000) }) }],
];

Deno.test("hostile nodes get a refusal with the reason, and the server lives", async (t) => {
  await withServer({ "a.yaml": entry("a") }, async ({ ports, pipeline }) => {
    for (const [name, node, expected] of NODES) {
      await t.step(name, async () => {
        const outcome = await ask(ports.grpc, node);
        assert.ok(typeof outcome !== "string", "it was answered");
        assert.equal(outcome.code, grpc.status.INVALID_ARGUMENT, outcome.details);
        assert.match(outcome.details, expected);
        assert.ok(outcome.details.length < 2000, `${outcome.details.length} characters`);
      });
    }
    for (const [name, node] of HARMLESS) {
      await t.step(`${name}: served`, async () => assert.equal(await ask(ports.grpc, node), "answer"));
    }
    await t.step("a node of 5 MB is too much for one message", async () => {
      const outcome = await ask(ports.grpc, { id, ...fields({ EXTRA: text("x".repeat(5 << 20)) }) });
      assert.equal((outcome as grpc.StatusObject).code, grpc.status.RESOURCE_EXHAUSTED);
    });
    await t.step("metadata 10,000 levels deep ends that stream at most", async () => {
      const outcome = await ask(ports.grpc, deepNode(10_000)) as grpc.StatusObject;
      assert.equal(outcome.code, grpc.status.INVALID_ARGUMENT);
    });
    assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
    assert.equal(await ask(ports.grpc, { id }), "answer");
    assert.equal((await page(ports.http, "/ready")).status, 200);
    assert.ok(pipeline.translator.counts.proxies <= HARMLESS.length + 2);
  });
});

// --- throwing builders ---

const gateway = {
  apiVersion: "networking.mesh.io/v1",
  kind: "Gateway",
  metadata: { name: "gw", namespace: "x" },
  spec: { selector: { app: "gw" }, servers: [{ port: { number: 80, name: "http", protocol: "HTTP" }, hosts: ["*"] }] },
};
const bound = (name: string, host = name) => ({
  apiVersion: "networking.mesh.io/v1",
  kind: "VirtualService",
  metadata: { name, namespace: "x" },
  spec: {
    hosts: [`${name}.shop.com`],
    gateways: ["gw"],
    http: [{ route: [{ destination: { host: `${host}.example.com` } }] }],
  },
});

Deno.test("a builder that throws for one host leaves all others served, and the old resources of that host in place", () => {
  const fixture = new Fixture();
  const registry = new TrappedRegistry();
  void fixture.pipeline.addRegistry(registry);
  for (const name of ["bad", "good"]) registry.set(name, name === "bad" ? "10.0.0.1" : "10.0.0.2", 1);
  fixture.put(gateway, bound("bad"), bound("good"));
  fixture.pipeline.flush();
  const proxies = {
    "at the bad service": fixture.join({ namespace: "x", address: "10.0.0.1" }),
    "elsewhere": fixture.join({ namespace: "y", address: "10.9.9.9" }),
    "whole routes": fixture.join({ namespace: "x", address: "10.0.0.77", delta: false }),
    "gateway": fixture.join({ namespace: "x", address: "10.0.0.88", type: "router", labels: { app: "gw" } }),
  };
  const all = () => Object.entries(proxies).map(([name, state]) => [name, contents(state)] as const);
  const before = new Map(all());
  assert.deepEqual(fixture.failures, []);

  registry.set("bad", "10.0.0.1", 2, true);
  registry.set("good", "10.0.0.3", 2);
  fixture.pipeline.flush();
  assert.ok(registry.sprung > 0, "no builder met the trap");
  assert.ok(fixture.failures.length > 0, "no failure was reported");
  const good = "assignment/outbound|80||good.example.com";
  for (const [name, now] of all()) {
    const then = before.get(name)!;
    assert.deepEqual(Object.keys(now).sort(), Object.keys(then).sort(), `${name}: nothing went`);
    const changed = Object.keys(now).filter((key) => now[key] !== then[key]);
    assert.deepEqual(changed, [good], `${name}: only the other host's change came`);
  }

  registry.set("bad", "10.0.0.4", 3);
  fixture.pipeline.flush();
  const fresh = new Fixture();
  const other = new TrappedRegistry();
  void fresh.pipeline.addRegistry(other);
  other.set("bad", "10.0.0.4", 3);
  other.set("good", "10.0.0.3", 2);
  fresh.put(gateway, bound("bad"), bound("good"));
  fresh.pipeline.flush();
  const state = fresh.join({ namespace: "y", address: "10.9.9.9" });
  assert.deepEqual(texts(proxies.elsewhere), texts(state), "repaired, all is as after a fresh start");
});

Deno.test("a proxy that comes while a host cannot be built gets all others", () => {
  const fixture = new Fixture();
  const registry = new TrappedRegistry();
  void fixture.pipeline.addRegistry(registry);
  registry.set("bad", "10.0.0.1", 1, true);
  registry.set("good", "10.0.0.2", 1);
  fixture.pipeline.flush();
  const names = Object.keys(contents(fixture.join({ namespace: "y", address: "10.9.9.9" })));
  assert.ok(names.includes("cluster/outbound|80||good.example.com"));
  assert.ok(names.includes("virtualHost/80/good.example.com:80"));
  assert.ok(!names.some((name) => name.includes("bad")));
});
