import assert from "node:assert/strict";
import { findingKeys } from "../../lib/config/finding/finding.ts";
import { KINDS } from "../../lib/config/kinds/kinds.ts";
import { createLog, defaultLogOptions } from "../../lib/kernel/log/log.ts";
import { notBuilt } from "../../lib/kernel/not_built/catalogue.ts";
import { page, withServer } from "../discovery/running.ts";
import { sourceText } from "../surface/source_scan.ts";
import { TestProxy } from "./proxy.ts";

const telemetry = (name: string) =>
  `apiVersion: telemetry.mesh.io/v1
kind: Telemetry
metadata: { name: ${name}, namespace: x }
spec: {}
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
  const reported = () => lines.filter(({ msg }) => String(msg).startsWith("Telemetry objects are read"));
  await withServer({ "a.yaml": telemetry("a") }, async ({ ports }, folder) => {
    using _proxy = await TestProxy.attach(ports.grpc);
    const json = async (path: string) => JSON.parse((await page(ports.http, path)).body);
    const live = await json("/debug/live?object=Telemetry/x/a&wait=30s");
    assert.deepEqual([live.live, live.total, live.everywhere], [1, 1, false]);
    assert.match(live.why.join(), /have no effect in this version \(not built yet: telemetry\)/);
    const [warning] = await json("/debug/warningz");
    assert.deepEqual([warning.name, findingKeys(warning)], ["no-effect", ["Telemetry/x/a"]]);
    assert.ok("Telemetry/x/a" in (await json("/debug/push_status")).warnings);
    assert.deepEqual(reported().map(({ level, objects, count }) => [level, objects, count]), [
      ["warn", ["Telemetry/x/a"], 1],
    ]);
    await Deno.writeTextFile(`${folder}/b.yaml`, telemetry("b"));
    await json("/debug/live?object=Telemetry/x/b&wait=30s");
    assert.equal(reported().length, 1, "once for the kind");
    const without = (await json("/debug/warningz") as { name: string }[]).filter(({ name }) => name === "no-effect");
    assert.equal(without.length, 2);
  }, { log });
});
