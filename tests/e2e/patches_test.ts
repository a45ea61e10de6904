/** Patches of ProxyFilters in stock Envoys: the effect on requests, also during changes of patches. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { gateway, service } from "./support/door.ts";
import { type Answer, askWith, headerEcho } from "./support/header_echo.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";
import { until } from "../patience.ts";

const path = envoyPath();

interface Patch {
  readonly applyTo: string;
  readonly match?: object;
  readonly patch: { readonly operation: string; readonly value: object };
}

const patchFile = (...configPatches: readonly Patch[]) =>
  JSON.stringify({
    apiVersion: "networking.istio.io/v1alpha3",
    kind: "EnvoyFilter",
    metadata: { name: "patched", namespace: "demo" },
    spec: { workloadSelector: { labels: { app: "door" } }, configPatches },
  });

const TYPES = "type.googleapis.com/envoy.extensions.filters";
const beforeRouter = {
  context: "GATEWAY",
  listener: {
    filterChain: {
      filter: {
        name: "envoy.filters.network.http_connection_manager",
        subFilter: { name: "envoy.filters.http.router" },
      },
    },
  },
};

function httpFilter(name: string, config: object): Patch {
  const value = { name, ...config };
  return { applyTo: "HTTP_FILTER", match: beforeRouter, patch: { operation: "INSERT_BEFORE", value } };
}

function lua(header: string): object {
  const inline_string = `function envoy_on_request(h) h:headers():add("x-patched", "${header}") end`;
  return { "@type": `${TYPES}.http.lua.v3.Lua`, default_source_code: { inline_string } };
}

/** Two requests, then 429. Envoy refuses a fill interval below 50 ms. */
const limit = (fill_interval: string) =>
  httpFilter("envoy.filters.http.local_ratelimit", {
    typed_config: {
      "@type": `${TYPES}.http.local_ratelimit.v3.LocalRateLimit`,
      stat_prefix: "limit",
      token_bucket: { max_tokens: 2, fill_interval },
      filter_enabled: { default_value: { numerator: 100 } },
      filter_enforced: { default_value: { numerator: 100 } },
    },
  });

const teapot: Patch = {
  applyTo: "HTTP_ROUTE",
  match: { context: "GATEWAY" },
  patch: { operation: "INSERT_FIRST", value: { match: { path: "/teapot" }, direct_response: { status: 418 } } },
};

const extension = (header: string): Patch[] => [
  { applyTo: "EXTENSION_CONFIG", patch: { operation: "ADD", value: { name: "script", typed_config: lua(header) } } },
  httpFilter("script", {
    config_discovery: {
      config_source: { ads: {}, resource_api_version: "V3", initial_fetch_timeout: "0s" },
      type_urls: [`${TYPES}.http.lua.v3.Lua`],
    },
  }),
];

/** An additional listener that sends connections to an additional cluster. */
function detour(listens: number, port: number): Patch[] {
  const address = (port_value: number) => ({ socket_address: { address: "127.0.0.1", port_value } });
  const endpoints = [{ lb_endpoints: [{ endpoint: { address: address(port) } }] }];
  const proxy = { "@type": `${TYPES}.network.tcp_proxy.v3.TcpProxy`, stat_prefix: "detour", cluster: "detour" };
  return [{
    applyTo: "CLUSTER",
    match: { context: "GATEWAY" },
    patch: {
      operation: "ADD",
      value: {
        name: "detour",
        type: "STATIC",
        connect_timeout: "5s",
        load_assignment: { cluster_name: "detour", endpoints },
      },
    },
  }, {
    applyTo: "LISTENER",
    match: { context: "GATEWAY" },
    patch: {
      operation: "ADD",
      value: {
        name: "detour",
        address: address(listens),
        filter_chains: [{ filters: [{ name: "envoy.filters.network.tcp_proxy", typed_config: proxy }] }],
      },
    },
  }];
}

const header = ({ got }: Answer) => got?.headers["x-patched"];

for (const delta of [true, false]) {
  Deno.test({
    name: `patches decide about requests at a gateway (${delta ? "delta" : "state of the world"})`,
    ignore: path === undefined,
    fn: () =>
      withPorts(2, async ([port = 0, other = 0]) => {
        await using echo = headerEcho("app");
        await using mesh = await TestMesh.start({
          files: { "world.yaml": `${gateway(port)}---${service("app", echo.port)}` },
        });
        const identity = { name: "door", namespace: "demo", address: "127.0.0.1", labels: { app: "door" } };
        const envoy = await mesh.attach(path!, { type: "router", ...identity }, delta);
        await envoy.ready(port);
        const ask = (url = "/") => askWith(port, { path: url });
        const patched = async (what: string, patches: readonly Patch[], holds: () => Promise<boolean>) => {
          await mesh.write("patch.json", patchFile(...patches));
          await until(what, holds);
          await mesh.settled();
        };
        const script = (text: string) => [httpFilter("envoy.filters.http.lua", { typed_config: lua(text) })];
        await patched("a script adds a header", script("one"), async () => header(await ask()) === "one");
        await patched("another one, another header", script("two"), async () => header(await ask()) === "two");
        await patched("a filter asks for its script", extension("three"), async () => header(await ask()) === "three");
        await patched("it gets another one", extension("four"), async () => header(await ask()) === "four");
        await patched("a route comes first", [teapot], async () => (await ask("/teapot")).status === 418);
        assert.equal((await ask()).by, "app", "other paths keep their route");
        assert.equal(header(await ask()), undefined, "the script is gone");
        await patched("too many requests are refused", [limit("3600s")], async () => (await ask()).status === 429);
        await patched("a listener of its own", detour(other, echo.port), async () => {
          return (await askWith(other)).by === "app";
        });
        await mesh.write("patch.json");
        await until("nothing is left of them", async () => (await askWith(other)).status === 0);
        assert.deepEqual([(await ask()).status, (await ask("/teapot")).by], [200, "app"]);
        await mesh.settled();
      }),
  });
}
