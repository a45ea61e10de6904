import assert from "node:assert/strict";
import { findingKeys } from "../../lib/config/finding/finding.ts";
import { KINDS } from "../../lib/config/kinds/kinds.ts";
import { createLog, defaultLogOptions } from "../../lib/kernel/log/log.ts";
import { notBuilt } from "../../lib/kernel/not_built/catalogue.ts";
import { page, withServer } from "../discovery/running.ts";
import { sourceText } from "../surface/source_scan.ts";
import { TestProxy } from "./proxy.ts";

const patch = (name: string) =>
  `apiVersion: networking.mesh.io/v1alpha3
kind: ProxyFilter
metadata: { name: ${name}, namespace: x }
spec: { configPatches: [] }
`;

Deno.test("a kind is translated, or on the list of those that are not", () => {
  const elsewhere = [
    "analyze",
    "config",
    "cni",
    "debug",
    "discovery",
    "simulate",
    "iptables",
    "dns",
    "cli",
    "kernel",
    "mcp",
    "xds",
  ];
  // The table of how kinds select workloads names those too that nobody asks it for yet.
  const text = sourceText([...elsewhere.map((folder) => `lib/${folder}/`), "lib/mesh/selection/", "cmd/"]);
  // Of discovery, registration makes entries of a kind's objects, and injection starts proxies by those of another one.
  const readers = ["registration/registrar.ts", "injection/settings.ts"]
    .map((path) => new URL(`../../lib/discovery/${path}`, import.meta.url));
  const asking = text + readers.map((path) => Deno.readTextFileSync(path)).join("");
  const known = KINDS.filter((kind) => asking.includes(`"${kind}"`));
  assert.deepEqual(KINDS.filter((kind) => !known.includes(kind) && !notBuilt("kind", kind)), [], "no code asks for it");
  assert.deepEqual(known.filter((kind) => notBuilt("kind", kind)), [], "it is translated by now");
});

Deno.test("an object of a kind that steers nothing is never said to be in force", async () => {
  const lines: Record<string, unknown>[] = [];
  const open = () => ({
    write: (line: Uint8Array) => void lines.push(JSON.parse(new TextDecoder().decode(line))),
    close() {},
  });
  const log = createLog(["model"], { ...defaultLogOptions, json: true }, { open });
  const reported = () => lines.filter(({ msg }) => String(msg).startsWith("ProxyFilter objects are read"));
  await withServer({ "a.yaml": patch("a") }, async ({ ports }, folder) => {
    using _proxy = await TestProxy.attach(ports.grpc);
    const json = async (path: string) => JSON.parse((await page(ports.http, path)).body);
    const live = await json("/debug/live?object=ProxyFilter/x/a&wait=30s");
    assert.deepEqual([live.live, live.total, live.everywhere], [1, 1, false]);
    assert.match(live.why.join(), /have no effect in this version \(not built yet: extensions\)/);
    const [warning] = await json("/debug/warningz");
    assert.deepEqual([warning.name, findingKeys(warning)], ["no-effect", ["ProxyFilter/x/a"]]);
    assert.ok("ProxyFilter/x/a" in (await json("/debug/push_status")).warnings);
    assert.deepEqual(reported().map(({ level, objects, count }) => [level, objects, count]), [
      ["warn", ["ProxyFilter/x/a"], 1],
    ]);
    await Deno.writeTextFile(`${folder}/b.yaml`, patch("b"));
    await json("/debug/live?object=ProxyFilter/x/b&wait=30s");
    assert.equal(reported().length, 1, "once for the kind");
    const without = (await json("/debug/warningz") as { name: string }[]).filter(({ name }) => name === "no-effect");
    assert.equal(without.length, 2);
  }, { log });
});

Deno.test("of a Telemetry nothing is said to be without effect", async () => {
  const telemetry = (name: string, spec: string) =>
    `apiVersion: telemetry.istio.io/v1\nkind: Telemetry\nmetadata: { name: ${name}, namespace: x }\nspec: ${spec}\n`;
  const files = {
    "logs.yaml": telemetry("logs", "{ accessLogging: [{ providers: [{ name: envoy }] }] }"),
    "metrics.yaml": telemetry("metrics", "{ metrics: [{ providers: [{ name: prometheus }] }] }"),
  };
  await withServer(files, async ({ ports }) => {
    const found = JSON.parse((await page(ports.http, "/debug/warningz")).body) as { name: string }[];
    assert.deepEqual(found.filter(({ name }) => name === "no-effect"), []);
  });
});
