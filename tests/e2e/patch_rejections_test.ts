/** Patches that a stock Envoy rejects: no guard is lost, whatever else patches the same listener. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { gateway, service } from "./support/door.ts";
import { askWith, headerEcho } from "./support/header_echo.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";
import { until } from "../patience.ts";

const path = envoyPath();
const TYPES = "type.googleapis.com/envoy.extensions.filters.http";

const identity = { name: "door", namespace: "demo", address: "127.0.0.1", labels: { app: "door" } };

/** An EnvoyFilter that inserts an HTTP filter at the gateway. */
function filter(name: string, typed_config: object): string {
  const subFilter = { name: "envoy.filters.http.router" };
  const manager = { name: "envoy.filters.network.http_connection_manager", subFilter };
  return JSON.stringify({
    apiVersion: "networking.istio.io/v1alpha3",
    kind: "EnvoyFilter",
    metadata: { name, namespace: "demo" },
    spec: {
      workloadSelector: { labels: { app: "door" } },
      configPatches: [{
        applyTo: "HTTP_FILTER",
        match: { context: "GATEWAY", listener: { filterChain: { filter: manager } } },
        patch: { operation: "INSERT_BEFORE", value: { name, typed_config } },
      }],
    },
  });
}

const script = (name: string, text: string) =>
  filter(name, { "@type": `${TYPES}.lua.v3.Lua`, default_source_code: { inline_string: text } });
const guard = script("guard", `function envoy_on_request(h) h:respond({[":status"] = "403"}, "no") end`);
const open = `function envoy_on_request(h) end`;
/** Envoy requires a known compressor library. */
const bad = filter("compress", {
  "@type": `${TYPES}.compressor.v3.Compressor`,
  compressor_library: { name: "x", typed_config: { "@type": "type.googleapis.com/google.protobuf.Empty" } },
});
const good = filter("stats", { "@type": `${TYPES}.grpc_stats.v3.FilterConfig` });

interface Finding {
  readonly name: string;
  readonly message: string;
  readonly place: { readonly objects: readonly { readonly name: string }[] };
}

for (const delta of [true, false]) {
  const variant = delta ? "delta" : "state of the world";
  const start = (files: Readonly<Record<string, string>>, run: (one: Started) => Promise<void>) =>
    withPorts(1, async ([port = 0]) => {
      await using echo = headerEcho("app");
      const world = `${gateway(port)}---${service("app", echo.port)}`;
      await using mesh = await TestMesh.start({ files: { "world.yaml": world, ...files } });
      const envoy = await mesh.attach(path!, { type: "router", ...identity }, delta);
      const findings = async () => {
        const found = await mesh.page<Finding[]>("warningz");
        return found.filter(({ name }) => name === "patch-rejected");
      };
      await run({ port, mesh, envoy, findings, status: async () => (await askWith(port)).status });
    });

  Deno.test({
    name: `an Envoy that rejects one of many patches has all others, the guard among them (${variant})`,
    ignore: path === undefined,
    fn: () =>
      start({ "a.json": guard, "b.json": bad, "c.json": good }, async ({ port, envoy, status, findings, mesh }) => {
        await envoy.ready(port);
        assert.equal(await status(), 403, "the guard refuses");
        await until("the finding", async () => (await findings()).some(({ message }) => message.includes("without")));
        const [found, ...more] = await findings();
        assert.deepEqual([found?.place.objects.map(({ name }) => name), more], [["compress"], []]);
        const live = await mesh.page<{ everywhere: boolean; rejected: number; why: string[] }>(
          "live?object=EnvoyFilter/demo/compress",
        );
        assert.deepEqual([live.everywhere, live.rejected], [false, 1], live.why.join());
        const other = await mesh.page<{ everywhere: boolean; why: string[] }>("live?object=EnvoyFilter/demo/guard");
        assert.deepEqual([other.everywhere, other.why], [true, []]);
      }),
  });

  Deno.test({
    name: `an Envoy that rejects a guard and has no earlier version lets nothing in, until it is mended (${variant})`,
    ignore: path === undefined,
    fn: () =>
      start({ "a.json": script("guard", "this is no script") }, async ({ port, envoy, status, findings, mesh }) => {
        await envoy.ready(port);
        await until(
          "the finding",
          async () => (await findings()).some(({ message }) => message.includes("is closed")),
        );
        assert.equal(await status(), 0, "connections are closed");
        await mesh.write("a.json", script("guard", open));
        await until("the mended script", async () => await status() === 200);
        // Envoy acknowledges the script after the first answers.
        await until("the finding has gone", async () => (await findings()).length === 0);
      }),
  });

  Deno.test({
    name: `an Envoy that rejects the edit of a guard keeps the guard that it has (${variant})`,
    ignore: path === undefined,
    fn: () =>
      start({ "a.json": guard }, async ({ port, envoy, status, findings, mesh }) => {
        await envoy.ready(port);
        assert.equal(await status(), 403);
        await mesh.write("a.json", script("guard", "this is no script"));
        await until("the finding", async () => (await findings()).some(({ message }) => message.includes("last")));
        assert.equal(await status(), 403, "the last good script refuses");
        const live = await mesh.page<{ everywhere: boolean; why: string[] }>("live?object=EnvoyFilter/demo/guard");
        assert.equal(live.everywhere, false);
        assert.match(live.why.join(), /have rejected it: .*script/);
        await mesh.write("a.json", script("guard", open));
        await until("the mended script", async () => await status() === 200);
      }),
  });
}

interface Started {
  readonly port: number;
  readonly mesh: TestMesh;
  readonly envoy: { ready(port: number): Promise<unknown> };
  readonly status: () => Promise<number>;
  readonly findings: () => Promise<readonly Finding[]>;
}
