/**
 * Outbound traffic of a sidecar with everything, and of a sidecar that asks: rules of a host, hosts outside of the mesh,
 * patches that name clusters and virtual hosts, and captured connections.
 */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { object } from "./support/asking.ts";
import { askWith, headerEcho } from "./support/header_echo.ts";
import { envoyPath, testBothModes, type TestEnvoy, TestMesh } from "./support/mesh.ts";
import { inOwnNetwork, withoutOwnNetwork } from "./support/own_network.ts";
import { until } from "../patience.ts";

const path = envoyPath();
const ignore = path === undefined;

const CLIENT = {
  ...{ type: "sidecar", name: "client", namespace: "demo", address: "127.0.0.1" } as const,
  labels: { app: "client" },
};

/** A service with workloads of versions on this machine. */
function service(host: string, port: number, versions: Readonly<Record<string, number>>, more: object = {}): string {
  return object("ServiceEntry", host.split(".")[0]!, {
    ...{ hosts: [host], location: "MESH_INTERNAL", resolution: "STATIC" },
    ports: [{ number: port, protocol: "HTTP", name: "http" }],
    endpoints: Object.entries(versions).map(([version, target]) => ({
      ...{ address: "127.0.0.1", ports: { http: target }, labels: { version } },
    })),
    ...more,
  });
}

/** The clusters of services that an Envoy has, sorted. */
async function clusters(envoy: TestEnvoy): Promise<string[]> {
  const text = await envoy.admin("clusters") ?? "";
  return [...text.matchAll(/^(outbound\|[^:]+)::observability/gm)].map(([, name]) => name!).sort();
}

interface Parts {
  readonly mesh: TestMesh;
  readonly envoy: TestEnvoy;
  readonly ask: (host: string, url?: string, headers?: Record<string, string>) => Promise<string>;
}

/** The sidecar of a client. `ask` tells who answers, or the status of an answer of the sidecar itself. */
async function withClient(
  port: number,
  files: Readonly<Record<string, string>>,
  onDemand: boolean,
  test: (parts: Parts) => Promise<void>,
): Promise<void> {
  await using mesh = await TestMesh.start({ files, onDemand });
  const envoy = await mesh.attach(path!, CLIENT, true);
  await envoy.ready(port);
  const ask = async (host: string, url = "/", headers = {}) => {
    const { by, status } = await askWith(port, { path: url, headers: { host, ...headers } });
    return by === "" ? String(status) : by;
  };
  await test({ mesh, envoy, ask });
  await mesh.settled();
}

testBothModes({
  name: "rules of a host: subsets, weights, mirrors, faults, redirects, other hosts, and an edit of each",
  ignore,
  fn: (onDemand) =>
    withPorts(1, async ([port = 0]) => {
      await using one = headerEcho("one");
      await using two = headerEcho("two");
      await using other = headerEcho("other");
      const to = (host: string, subset?: string) => ({ destination: { host, ...subset && { subset } } });
      const rule = (aborted: number) =>
        object("VirtualService", "app", {
          hosts: ["app.test"],
          http: [
            { match: [{ headers: { version: { exact: "two" } } }], route: [to("app.test", "two")] },
            {
              match: [{ uri: { exact: "/fault" } }],
              fault: { abort: { httpStatus: aborted, percentage: { value: 100 } } },
              route: [to("app.test", "one")],
            },
            { match: [{ uri: { exact: "/moved" } }], redirect: { authority: "other.test", redirectCode: 307 } },
            {
              match: [{ uri: { exact: "/other" } }],
              rewrite: { uri: "/", authority: "other.test" },
              route: [to("other.test")],
              retries: { attempts: 2, retryOn: "connect-failure" },
            },
            { route: [to("app.test", "one")] },
          ],
        });
      const files = {
        "app.json": service("app.test", port, { one: one.port, two: two.port }),
        "other.json": service("other.test", port, { one: other.port }),
        "subsets.json": object("DestinationRule", "app", {
          host: "app.test",
          subsets: ["one", "two"].map((version) => ({ name: version, labels: { version } })),
        }),
        "rule.json": rule(418),
        "unused.json": service("unused.test", port, { one: other.port }),
      };
      await withClient(port, files, onDemand, async ({ mesh, envoy, ask }) => {
        assert.equal(await ask("app.test", "/", { version: "two" }), "two", "the first request of all");
        assert.equal(await ask("app.test"), "one");
        assert.equal(await ask("app.test", "/fault"), "418");
        assert.equal(await ask("app.test", "/moved"), "307");
        assert.equal(await ask("app.test", "/other"), "other", "a cluster of a host that no request names");
        const held = await clusters(envoy);
        assert.equal(held.includes(`outbound|${port}||unused.test`), !onDemand);
        for (const name of ["|one|app.test", "|two|app.test", "||other.test"]) {
          assert.ok(held.includes(`outbound|${port}${name}`), name);
        }
        await mesh.write("rule.json", rule(409));
        await until("the edited fault", async () => await ask("app.test", "/fault") === "409");
        await mesh.write("rule.json");
        const answers = new Set<string>();
        await until("every version without the rule", async () => answers.add(await ask("app.test")).size === 2);
        assert.equal(await ask("unused.test"), "other");
      });
    }),
});

testBothModes({
  name: "a host outside of the mesh is resolved by DNS, also with the first request, and by the name in a rule",
  ignore,
  fn: (onDemand) =>
    withPorts(1, async ([port = 0]) => {
      await using far = headerEcho("far");
      const external = { location: "MESH_EXTERNAL", resolution: "DNS" };
      const files = {
        "far.json": service("far.example", port, {}, {
          ...external,
          endpoints: [{ address: "localhost", ports: { http: far.port } }],
        }),
        "near.json": service("near.test", port, { one: 1 }),
        "rule.json": object("VirtualService", "near", {
          hosts: ["near.test"],
          http: [{ route: [{ destination: { host: "far.example" } }] }],
        }),
      };
      await withClient(port, files, onDemand, async ({ ask }) => {
        await until("an answer from outside", async () => await ask("near.test") === "far");
        assert.equal(await ask("far.example"), "far");
      });
    }),
});

const TYPES = "type.googleapis.com/envoy.extensions.filters.http";

/** Patches that name clusters of hosts: in a route, in a virtual host of their own, and in a script. */
function patches(port: number): string {
  const cluster = (host: string) => `outbound|${port}||${host}`;
  const script = `function envoy_on_request(handle)
  local headers = handle:httpCall("${cluster("asked.test")}",
    {[":method"] = "GET", [":path"] = "/script", [":authority"] = "asked.test"}, "", 5000)
  handle:headers():add("x-script", headers["x-name"] or "nobody")
end`;
  const manager = {
    name: "envoy.filters.network.http_connection_manager",
    subFilter: { name: "envoy.filters.http.router" },
  };
  const match = { context: "SIDECAR_OUTBOUND" };
  return JSON.stringify({
    apiVersion: "networking.istio.io/v1alpha3",
    kind: "EnvoyFilter",
    metadata: { name: "patched", namespace: "demo" },
    spec: {
      configPatches: [{
        applyTo: "HTTP_ROUTE",
        match: { ...match, routeConfiguration: { vhost: { name: `app.test:${port}` } } },
        patch: {
          operation: "INSERT_FIRST",
          value: { match: { path: "/routed" }, route: { cluster: cluster("routed.test") } },
        },
      }, {
        applyTo: "VIRTUAL_HOST",
        match: { ...match, routeConfiguration: { name: `${port}` } },
        patch: {
          operation: "ADD",
          value: {
            name: "added",
            domains: ["added.example"],
            routes: [{ match: { prefix: "/" }, route: { cluster: cluster("added.test") } }],
          },
        },
      }, {
        applyTo: "HTTP_FILTER",
        match: { ...match, listener: { filterChain: { filter: manager } } },
        patch: {
          operation: "INSERT_BEFORE",
          value: {
            name: "envoy.filters.http.lua",
            typed_config: { "@type": `${TYPES}.lua.v3.Lua`, default_source_code: { inline_string: script } },
          },
        },
      }],
    },
  });
}

testBothModes({
  name: "patches that name clusters: of a route, of an added virtual host, and of a script that calls a service",
  ignore,
  fn: (onDemand) =>
    withPorts(1, async ([port = 0]) => {
      await using app = headerEcho("app");
      await using routed = headerEcho("routed");
      await using added = headerEcho("added");
      await using asked = headerEcho("asked");
      const services = Object.entries({ app, routed, added, asked })
        .map(([name, { port: target }]) => service(`${name}.test`, port, { one: target }));
      await using mesh = await TestMesh.start({
        files: { "world.yaml": services.join("\n---\n"), "patch.json": patches(port) },
        onDemand,
      });
      const envoy = await mesh.attach(path!, CLIENT, true);
      await envoy.ready(port);
      const ask = (host: string, url = "/") => askWith(port, { path: url, headers: { host } });
      const held = async (host: string) => (await clusters(envoy)).includes(`outbound|${port}||${host}`);
      assert.deepEqual([await held("asked.test"), await held("routed.test")], [true, !onDemand], "before any request");
      const { by, got } = await ask("app.test");
      assert.deepEqual([by, got?.headers["x-script"]], ["app", "asked"]);
      assert.equal((await ask("app.test", "/routed")).by, "routed");
      assert.equal((await ask("added.example")).by, "added");
      await mesh.settled();
    }),
});

const missing = ignore ? "there is no Envoy" : withoutOwnNetwork;

Deno.test({
  name: "captured connections in both modes: services, headless services, wildcards, hosts and addresses of nobody" +
    (missing === undefined ? "" : ` (ignored: ${missing})`),
  ignore: missing !== undefined,
  fn: () => inOwnNetwork(new URL("./support/captured_cases.ts", import.meta.url), { addresses: CAPTURED_ADDRESSES }),
});

const CAPTURED_ADDRESSES = ["10.99.0.1", "10.99.0.2", "10.99.0.11", "10.99.0.12", "10.99.0.21", "10.99.0.99"];
