import assert from "node:assert/strict";
import { MESH_KINDS } from "../../lib/config/kinds/kinds.ts";
import { page, withServer } from "../discovery/running.ts";
import { sourceText } from "../surface/source_scan.ts";

Deno.test("every kind is asked for where configuration is made of it", () => {
  const elsewhere = [
    "analyze",
    "config",
    "finding",
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
  // The table of selection of workloads also names kinds that nobody asks for yet.
  const text = sourceText([...elsewhere.map((folder) => `lib/${folder}/`), "lib/mesh/selection/", "cmd/"]);
  // In discovery, registration makes entries from a kind's objects, and injection starts proxies by the objects of
  // another kind.
  const readers = ["registration/registrar.ts", "injector/settings.ts"]
    .map((path) => new URL(`../../lib/discovery/${path}`, import.meta.url));
  const asking = text + readers.map((path) => Deno.readTextFileSync(path)).join("");
  assert.deepEqual(MESH_KINDS.filter((kind) => !asking.includes(`"${kind}"`)), []);
});

Deno.test("no part of a Telemetry is reported as without effect", async () => {
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
