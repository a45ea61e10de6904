/** The log of a started server. */
import assert from "node:assert/strict";
import { VERSION } from "../../lib/kernel/program/build_info.ts";
import { createLog, defaultLogOptions } from "../../lib/kernel/log/log.ts";
import { pageUrls } from "../../lib/discovery/start_report.ts";
import { page, withServer } from "./running.ts";

const entry = (name: string, host: string) =>
  `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: x }
spec:
  hosts: [${host}]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: 10.0.0.1 }]
`;

const route = `apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: r, namespace: x }
spec:
  hosts: [a.x]
  http: [{ route: [{ destination: { host: no-such-host.x } }] }]
`;

const patch = `apiVersion: networking.mesh.io/v1alpha3
kind: ProxyFilter
metadata: { name: t, namespace: x }
spec: { configPatches: [] }
`;

Deno.test("a server logs at start its version, its pages, objects by kind, findings and the duration", async () => {
  const lines: Record<string, unknown>[] = [];
  const counted = Promise.withResolvers<void>();
  const open = () => ({
    write: (bytes: Uint8Array) => {
      const line = JSON.parse(new TextDecoder().decode(bytes));
      lines.push(line);
      if (line.msg === "findings") counted.resolve();
    },
    close() {},
  });
  const log = createLog(["default"], { ...defaultLogOptions, json: true }, { open });
  const files = {
    "a.yaml": entry("a", "a.x"),
    "b.yaml": entry("b", "b.x"),
    "r.yaml": route,
    "t.yaml": patch,
    "bad.yaml": "apiVersion: networking.mesh.io/v1\na: [\n",
  };
  await withServer(files, async ({ ports }) => {
    await counted.promise;
    const line = (msg: string) => lines.find((one) => one["msg"] === msg) ?? assert.fail(`no line ${msg}`);
    const serving = line("serving");
    assert.deepEqual([serving["version"], serving["objects"], serving["kinds"]], [
      VERSION,
      4,
      { VirtualService: 1, ServiceEntry: 2, ProxyFilter: 1 },
    ]);
    assert.ok(Number(serving["seconds"]) > 0);
    const pages = line("pages");
    assert.equal(pages["ready"], `http://127.0.0.1:${ports.http}/ready`);
    assert.equal(pages["debug"], `http://127.0.0.1:${ports.http}/debug`);
    assert.equal((await fetch(String(pages["ready"]))).status, 200);
    assert.match(await (await fetch(String(pages["metrics"]))).text(), /pilot_info/);
    const { errors, warnings, level, see } = line("findings");
    const problems: { severity: string }[] = JSON.parse((await page(ports.http, "/debug/problemz")).body);
    const count = (wanted: string) => problems.filter(({ severity }) => severity === wanted).length;
    assert.deepEqual([errors, warnings], [count("error"), count("warning")]);
    assert.ok(Number(errors) >= 2, "the text that does not parse, and the host that does not exist");
    assert.deepEqual([level, see], ["warn", `http://127.0.0.1:${ports.http}/debug/problemz`]);
  }, { log });
});

Deno.test("pages that are not served are not named, and all addresses are reached by the loopback one", () => {
  const options = { grpc: undefined, http: ":8080", monitoring: "10.0.0.1:15014" };
  const ports = { grpc: 8080, http: 8080, monitoring: 15014 };
  assert.deepEqual(pageUrls({ options, ports, debug: false }), {
    ready: "http://127.0.0.1:8080/ready",
    metrics: "http://10.0.0.1:15014/metrics",
  });
  const introspection = { address: "[::1]:0", required: false, args: [], environment: {} };
  assert.deepEqual(
    pageUrls({ options: { ...options, introspection }, ports: { ...ports, introspection: 9876 }, debug: true }),
    {
      ready: "http://127.0.0.1:8080/ready",
      debug: "http://127.0.0.1:8080/debug",
      metrics: "http://10.0.0.1:15014/metrics",
      introspection: "http://[::1]:9876",
    },
  );
});
