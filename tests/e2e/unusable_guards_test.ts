/**
 * A guard that no Envoy can read is not omitted: stock Envoys admit nothing in its place, or keep the previous version.
 */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { DOOR, gateway, service } from "./support/door.ts";
import { askWith, headerEcho } from "./support/header_echo.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";
import { until } from "../patience.ts";

const path = envoyPath();
const TYPES = "type.googleapis.com/envoy.extensions";
const MANAGER = "envoy.filters.network.http_connection_manager";
const ROUTER = "envoy.filters.http.router";

interface Patch {
  readonly applyTo: string;
  readonly match?: object;
  readonly patch: { readonly operation: string; readonly value: object };
}

const guard = (...configPatches: readonly Patch[]) =>
  JSON.stringify({
    apiVersion: "networking.istio.io/v1alpha3",
    kind: "EnvoyFilter",
    metadata: { name: "guard", namespace: "demo" },
    spec: { workloadSelector: { labels: { app: "door" } }, configPatches },
  });

const atRouter = { listener: { filterChain: { filter: { name: MANAGER, subFilter: { name: ROUTER } } } } };
const http = (typed_config: object, operation = "INSERT_BEFORE"): Patch => ({
  applyTo: "HTTP_FILTER",
  match: { context: "GATEWAY", ...atRouter },
  patch: { operation, value: { name: operation === "MERGE" ? ROUTER : "guard", typed_config } },
});
const on = (applyTo: string, operation: string, value: object, match: object = {}): Patch => ({
  applyTo,
  match: { context: "GATEWAY", ...match },
  patch: { operation, value },
});

const script = (text: string) => ({
  "@type": `${TYPES}.filters.http.lua.v3.Lua`,
  default_source_code: { inline_string: text },
});
const refusing = http(script(`function envoy_on_request(h) h:respond({[":status"] = "403"}, "no") end`));
const empty = { "@type": "type.googleapis.com/google.protobuf.Empty" };

/** Patches that refuse requests, each with a mistake. */
const UNREADABLE: Readonly<Record<string, readonly Patch[]>> = {
  "an HTTP filter of a type that Envoy lacks": [http({ "@type": `${TYPES}.filters.http.guard.v3.Guard` })],
  "an HTTP filter with a mistake in a field's name": [
    http({ "@type": `${TYPES}.filters.http.rbac.v3.RBAC`, rulez: { action: "DENY" } }),
  ],
  "an HTTP filter with a value of another kind": [http({ "@type": `${TYPES}.filters.http.rbac.v3.RBAC`, rules: 3 })],
  "an HTTP filter without anything that can be read": [on("HTTP_FILTER", "INSERT_FIRST", { nothing: true })],
  "a merge into a filter of another type": [http(script("x"), "MERGE")],
  "a network filter": [on("NETWORK_FILTER", "INSERT_FIRST", { name: "guard", typed_config: { "@type": "x/no.Such" } })],
  "a listener filter": [on("LISTENER_FILTER", "ADD", { name: "guard", typed_config: { "@type": "x/no.Such" } })],
  "a field of the listener": [on("LISTENER", "MERGE", { listener_filterz: [] })],
  "a field of a chain": [on("FILTER_CHAIN", "MERGE", { transport_sokcet: {} })],
  "a field of the route configuration": [on("ROUTE_CONFIGURATION", "MERGE", { typed_per_filter_konfig: {} })],
  "a field of the virtual host": [on("VIRTUAL_HOST", "MERGE", { require_tsl: "ALL" })],
  "a virtual host that is added": [
    on("VIRTUAL_HOST", "ADD", { name: "no", domains: ["no.test"], routes: [{ direct_responze: { status: 403 } }] }),
  ],
  "a virtual host in place of another one": [on("VIRTUAL_HOST", "REPLACE", { domains: ["*"], rootes: [] })],
  "a route that answers": [on("HTTP_ROUTE", "INSERT_FIRST", { match: { prefix: "/" }, direct_responze: 403 })],
  "a field of a route": [on("HTTP_ROUTE", "MERGE", { direct_responze: { status: 403 } })],
  "what encrypts to the service": [
    on("CLUSTER", "MERGE", { transport_sokcet: {} }, { cluster: { service: "app.demo.svc.cluster.local" } }),
  ],
  "a configuration of a filter that is asked for by name": [
    on("EXTENSION_CONFIG", "ADD", { name: "later", typed_config: { "@type": `${TYPES}.filters.http.guard.v3.Guard` } }),
    on("HTTP_FILTER", "INSERT_BEFORE", {
      name: "later",
      config_discovery: {
        config_source: { ads: {}, resource_api_version: "V3", initial_fetch_timeout: "1s" },
        type_urls: [`${TYPES}.filters.http.rbac.v3.RBAC`],
      },
    }, atRouter),
  ],
};

interface Finding {
  readonly name: string;
  readonly message: string;
}

interface World {
  readonly mesh: TestMesh;
  readonly port: number;
  /** The status, 0 without an answer, or the application's name. */
  readonly status: () => Promise<number | string>;
  readonly says: (finding: string, text: RegExp) => Promise<boolean>;
}

const start = (guards: string, run: (world: World) => Promise<void>) =>
  withPorts(1, async ([port = 0]) => {
    await using echo = headerEcho("app");
    const files = { "world.yaml": `${gateway(port)}---${service("app", echo.port)}`, "guard.json": guards };
    await using mesh = await TestMesh.start({ files });
    await run({
      mesh,
      port,
      status: async () => {
        const { by, status } = await askWith(port);
        return by === "" ? status : by;
      },
      says: async (finding, text) => {
        const found = await mesh.page<Finding[]>("warningz");
        return found.some(({ name, message }) => name === finding && text.test(message));
      },
    });
  });

for (const [what, patches] of Object.entries(UNREADABLE)) {
  Deno.test({
    name: `a new Envoy gets nothing through where a guard cannot be read, until it is mended: ${what}`,
    ignore: path === undefined,
    fn: () =>
      start(guard(...patches), async ({ mesh, port, status, says }) => {
        const envoy = await mesh.attach(path!, DOOR, true);
        await envoy.ready(port);
        const failed = what.startsWith("a merge into");
        await until("the finding about the patch", () => says(failed ? "patch-failed" : "patch-refused", /./));
        const isAsked = what.includes("asked for by name");
        if (!isAsked) await until("it is closed", () => says("patch-rejected", /is closed.*cannot be used/s));
        assert.notEqual(await status(), "app", "no request gets through");
        await mesh.write("guard.json", guard(http(script("function envoy_on_request(h) end"))));
        await until("requests pass when it is mended", async () => await status() === "app");
        // Envoy acknowledges the guard after the first answers.
        await until("the finding has gone", async () => !await says("patch-rejected", /./));
      }),
  });
}

for (const delta of [true, false]) {
  Deno.test({
    name: `an Envoy keeps the guard that it has when an edit of it cannot be read (${delta ? "delta" : "state"})`,
    ignore: path === undefined,
    fn: () =>
      start(guard(refusing), async ({ mesh, port, status, says }) => {
        const envoy = await mesh.attach(path!, DOOR, delta);
        await envoy.ready(port);
        assert.equal(await status(), 403);
        await mesh.write("guard.json", guard(http({ ...empty, "@type": `${TYPES}.filters.http.lua.v2.Lua` })));
        await until("it stays", () => says("patch-rejected", /keeps its last accepted version/));
        assert.equal(await status(), 403, "the last good guard refuses");
        const live = await mesh.page<{ everywhere: boolean; why: string[] }>("live?object=EnvoyFilter/demo/guard");
        assert.equal(live.everywhere, false);
      }),
  });
}
