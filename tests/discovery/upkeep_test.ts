import assert from "node:assert/strict";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { FindingLog, MAX_LOGGED, REVIEW_DELAY, SWEEP_INTERVAL } from "../../lib/discovery/upkeep.ts";
import { type Finding, findingKeys, warningOf } from "../../lib/finding/finding.ts";
import { Fixture } from "./fixture.ts";
import { openLog } from "./open_log.ts";
import { page, withServer } from "./running.ts";

const object = (kind: string, name: string, spec: object, namespace = "x") => ({
  apiVersion: "networking.mesh.io/v1",
  kind,
  metadata: { name, namespace },
  spec,
});

/** Objects with warnings: a service, a route with a delegate, and the delegate, hidden from the route. */
const entry = (name: string, host: string, port = { number: 80, name: "http", protocol: "HTTP" }) =>
  object("ServiceEntry", name, {
    hosts: [host],
    location: "MESH_INTERNAL",
    ports: [port],
    resolution: "STATIC",
    endpoints: [{ address: "10.0.0.1" }],
  });
const delegating = object("VirtualService", "parent", {
  hosts: ["a.example.com"],
  http: [{ match: [{ uri: { prefix: "/" } }], delegate: { name: "child", namespace: "y" } }],
});
const hidden = {
  ...object("VirtualService", "child", {
    exportTo: ["."],
    http: [{ route: [{ destination: { host: "a.example.com" } }] }],
  }),
  metadata: { name: "child", namespace: "y" },
};
const rule = (name: string) =>
  object("DestinationRule", name, { host: "a.example.com", subsets: [{ name: "v1", labels: { version: name } }] });
const plain = object("DestinationRule", "mutual", {
  host: "b.example.com",
  trafficPolicy: { tls: { mode: "ISTIO_MUTUAL" } },
});

function warned(): Fixture {
  const fixture = new Fixture();
  fixture.put(
    entry("a", "a.example.com"),
    entry("a2", "a2.example.com", { number: 80, name: "tcp", protocol: "TCP" }),
    entry("b", "b.example.com"),
    delegating,
    hidden,
    rule("one"),
    rule("two"),
    plain,
  );
  fixture.pipeline.flush();
  fixture.join({ namespace: "x", address: "10.0.0.1" });
  return fixture;
}

Deno.test("a warning names its objects, and appears once, however many proxies and classes have it", () => {
  const fixture = warned();
  const before = fixture.pipeline.translator.warnings();
  const keysOf = (finding: Finding | undefined) => finding && findingKeys(finding);
  const find = (pattern: RegExp) => before.find(({ message }) => pattern.test(message));
  assert.deepEqual(keysOf(find(/delegate VirtualService\/y\/child is not exported/)), ["VirtualService/x/parent"]);
  assert.deepEqual(keysOf(find(/subset v1 of .*one is in force/)), ["DestinationRule/x/two", "DestinationRule/x/one"]);
  assert.deepEqual(keysOf(find(/ISTIO_MUTUAL/)), ["DestinationRule/x/mutual", "ServiceEntry/x/b"]);
  assert.equal(find(/^inbound port 80: .*a2\.example/)?.name, "inbound-conflict");
  fixture.join({ namespace: "x", address: "10.0.0.1", name: "twin", labels: { app: "twin" } });
  fixture.join({ namespace: "y", address: "10.0.0.77" });
  const texts = fixture.pipeline.translator.warnings().map(({ message }) => message);
  assert.equal(new Set(texts).size, texts.length);
  assert.deepEqual(fixture.failures, []);
});

Deno.test("a warning goes with its object", () => {
  const fixture = warned();
  fixture.remove("VirtualService/x/parent", "DestinationRule/x/mutual", "DestinationRule/x/two", "ServiceEntry/x/a2");
  fixture.pipeline.flush();
  assert.deepEqual(fixture.pipeline.translator.warnings(), []);
});

Deno.test("a warning is logged once, again only after it was gone, with its objects", () => {
  const { log, lines } = openLog();
  const warnings = new FindingLog(log);
  const one = warningOf("domain-conflict", ["VirtualService/x/v"], "one is left out");
  const two = warningOf("gateway-not-as-written", ["Gateway/x/g"], "two is left out");
  warnings.review([one]);
  warnings.review([one, two]);
  warnings.review([two]);
  warnings.review([one, two]);
  assert.deepEqual(lines.map((l) => [l.level, l.scope, l.msg, l.objects]), [
    ["warn", "model", one.message, findingKeys(one)],
    ["warn", "gateway", two.message, findingKeys(two)],
    ["warn", "model", one.message, findingKeys(one)],
  ]);
});

Deno.test("a flood of warnings is logged in part, with the number of the others", () => {
  const { log, lines } = openLog();
  const flood = Array.from({ length: MAX_LOGGED + 7 }, (_, i) => warningOf("listener-conflict", [], `port ${i}`));
  const warnings = new FindingLog(log);
  warnings.review(flood);
  assert.equal(lines.length, MAX_LOGGED + 1);
  assert.equal(lines.at(-1)?.["others"], 7);
  warnings.review(flood);
  assert.equal(lines.length, MAX_LOGGED + 1);
});

Deno.test("warnings are logged after a push, and shown on the debug pages and in the metrics", async () => {
  const { log, lines } = openLog();
  const clock = createFakeClock();
  const objects = [entry("a", "a.example.com"), delegating, hidden, rule("one"), rule("two")];
  const files = { "all.yaml": objects.map((o) => JSON.stringify(o)).join("\n---\n") };
  await withServer(files, async ({ ports }) => {
    const reported = () =>
      lines.filter((l) => l.level === "warn" && String(l.msg).includes("delegate VirtualService/y/child"));
    assert.equal(reported().length, 0);
    await clock.advance(REVIEW_DELAY);
    assert.equal(reported().length, 1);
    await clock.advance(10 * SWEEP_INTERVAL);
    assert.equal(reported().length, 1);
    const shown = JSON.parse((await page(ports.http, "/debug/warningz")).body) as Finding[];
    assert.ok(shown.some(({ message }) => message.includes("delegate VirtualService/y/child")));
    const status = JSON.parse((await page(ports.http, "/debug/push_status")).body);
    assert.match(status.warnings["VirtualService/x/parent"][0], /delegate VirtualService\/y\/child/);
    assert.match((await page(ports.monitoring, "/metrics")).body, /^pilot_destrule_subsets 1$/m);
  }, { log, clock });
});

Deno.test("each minute the server forgets classes that no proxy is in any more", async () => {
  const clock = createFakeClock();
  await withServer({ "a.json": JSON.stringify(entry("a", "a.example.com")) }, async ({ pipeline }) => {
    const fixture = new Fixture();
    const node = { id: "sidecar~10.0.0.9~app.x~x.svc.cluster.local" };
    const { translator } = pipeline;
    const state = translator.join(fixture.nodes.read(node, true, pipeline.mesh));
    assert.equal(translator.counts.classes, 1);
    await clock.advance(SWEEP_INTERVAL);
    assert.equal(translator.counts.classes, 1, "a class in use stays");
    translator.leave(state);
    await clock.advance(SWEEP_INTERVAL - 1);
    assert.equal(translator.counts.classes, 1, "a proxy may come back within the minute");
    await clock.advance(1);
    assert.equal(translator.counts.classes, 0);
  }, { clock });
});
