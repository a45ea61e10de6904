/** Metrics of real Envoys without identity headers: connections, plain requests, gateways. */
import assert from "node:assert/strict";
import { connect, createServer, type Socket } from "node:net";
import { withPorts } from "../../scripts/ports.ts";
import { askWith, headerEcho } from "./support/header_echo.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";
import { counted, entry, ingress, said, sidecar } from "./support/measured.ts";
import { until } from "../patience.ts";

const path = envoyPath();
const ignore = path === undefined;

/** An application that echoes bytes. */
async function byteEcho() {
  const server = createServer((socket) => void socket.on("error", () => {}).pipe(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return { port, [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())) };
}

/** Sends a text and gets an echo. The connection stays open. */
async function echoed(port: number, text: string): Promise<Socket> {
  const socket = connect({ host: "127.0.0.1", port });
  socket.write(text);
  await new Promise((resolve, reject) => void socket.once("data", resolve).once("error", reject));
  return socket;
}

/** Connects, and waits until the other side closes. */
function refused(port: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  connect({ host: "127.0.0.1", port }).on("error", () => {}).on("close", () => resolve()).resume();
  return promise;
}

const meshConfig = { defaultProviders: { metrics: ["prometheus"] } };

Deno.test({
  name:
    "a connection is counted when it is made, its bytes when it ends, and one that reaches nobody is opened and closed",
  ignore,
  fn: () =>
    withPorts(3, async ([here = 0, there = 0, nowhere = 0]) => {
      await using app = await byteEcho();
      const files = [
        entry("bytes", here, "TCP", there),
        entry("gone", nowhere, "TCP", 1),
        ingress("server", "TCP", there, app.port),
      ];
      await using mesh = await TestMesh.start({
        files: Object.fromEntries(files.map((object, i) => [`${i}.json`, JSON.stringify(object)])),
        meshConfig,
      });
      const server = await mesh.attach(path!, sidecar("server"), true);
      await server.ready(there);
      const client = await mesh.attach(path!, sidecar("client"), true);
      await client.ready(here);
      const known = { request_protocol: "tcp", destination_service: "bytes.test", source_workload: "client" };
      const ofEndpoint = { destination_canonical_service: "far", destination_workload_namespace: "demo" };
      const sides = [
        { envoy: client, labels: { ...known, ...ofEndpoint, reporter: "source" } },
        {
          envoy: server,
          labels: { reporter: "destination", source_workload: "unknown", destination_workload: "server" },
        },
      ] as const;
      const sums = (name: string) =>
        Promise.all(sides.map(async ({ envoy, labels }) => (await counted(envoy, `tcp_${name}_total`, labels)).sum));
      const more = (numbers: readonly number[], by: number) => numbers.map((one) => one + by);
      // The check for listeners made a connection to each, and the client's connection continued to the server.
      const are = async (name: string, wanted: readonly number[]) => `${await sums(name)}` === `${wanted}`;
      const before = [1, 2];
      await until("those are closed", () => are("connections_closed", before));
      const socket = await echoed(here, "hello");
      await until("it is opened", () => are("connections_opened", more(before, 1)));
      assert.deepEqual(await sums("connections_closed"), before);
      socket.destroy();
      await until("it is closed", () => are("connections_closed", more(before, 1)));
      for (const direction of ["sent", "received"]) assert.deepEqual(await sums(`${direction}_bytes`), [5, 5]);
      assert.deepEqual(await sums("connections_opened"), more(before, 1));
      await refused(nowhere);
      const failed = { destination_service: "gone.test" };
      await until(
        "it is closed",
        async () => (await counted(client, "tcp_connections_closed_total", failed)).sum > 0,
      );
      const { sum, labels } = await counted(client, "tcp_connections_opened_total", failed);
      assert.equal(sum, (await counted(client, "tcp_connections_closed_total", failed)).sum);
      assert.match(labels[0]!["response_flags"]!, /UF/);
    }),
});

const TAGS = {
  apiVersion: "telemetry.istio.io/v1",
  kind: "Telemetry",
  metadata: { name: "tags", namespace: "demo" },
  spec: {
    metrics: [{
      overrides: [{
        match: { metric: "REQUEST_COUNT" },
        tagOverrides: {
          from: { value: "downstream_peer.workload" },
          verb: { value: "request.method" },
          port: { value: "string(destination.port)" },
          broken: { value: "request.nothing.there" },
          response_flags: { operation: "REMOVE" },
        },
      }],
    }],
  },
};

const BELIEFS = [
  { name: "is not believed and not answered", proxyHeaders: {}, source: "unknown" },
  {
    name: "is believed and answered where the settings say UNDEFINED",
    proxyHeaders: { metadataExchangeHeaders: { mode: "UNDEFINED" } },
    source: "forger",
  },
];

for (const { name, proxyHeaders, source } of BELIEFS) {
  Deno.test({
    name: `what a plain client says of itself ${name}; tags are those of the user`,
    ignore,
    fn: () =>
      withPorts(1, async ([port = 0]) => {
        await using app = headerEcho();
        const files = {
          "in.json": JSON.stringify(ingress("server", "HTTP", port, app.port)),
          "tags.json": JSON.stringify(TAGS),
        };
        await using mesh = await TestMesh.start({
          files,
          meshConfig: { ...meshConfig, defaultConfig: { proxyHeaders } },
        });
        const envoy = await mesh.attach(path!, sidecar("server"), true);
        await envoy.ready(port);
        const headers = { "x-mesh-peer": said("forger").header! };
        assert.equal((await askWith(port, { headers })).got?.headers["x-mesh-peer"], undefined);
        await until("it is counted", async () => (await counted(envoy, "requests_total", {})).sum === 1);
        const { labels: [labels = {}] } = await counted(envoy, "requests_total", {});
        const { source_workload, from, verb, port: dialled, broken, response_flags } = labels;
        assert.deepEqual([source_workload, from, verb, dialled], [source, source, "GET", `${port}`]);
        assert.deepEqual([broken, response_flags], ["unknown", undefined]);
        const response = await fetch(`http://127.0.0.1:${port}/`, { headers });
        await response.body?.cancel();
        assert.equal(response.headers.get("x-mesh-peer"), source === "forger" ? said("server").header : null);
      }),
  });
}

Deno.test({
  name:
    "a gateway takes out what others than the mesh say, says who it is to services of the mesh alone, and counts as a client",
  ignore,
  fn: () =>
    withPorts(1, async ([port = 0]) => {
      await using inside = headerEcho();
      await using outside = headerEcho();
      const gateway = {
        apiVersion: "networking.mesh.io/v1",
        kind: "Gateway",
        metadata: { name: "door", namespace: "demo" },
        spec: {
          selector: { app: "door" },
          servers: [{ port: { number: port, name: "http", protocol: "HTTP" }, hosts: ["*"] }],
        },
      };
      const route = {
        apiVersion: "networking.mesh.io/v1",
        kind: "VirtualService",
        metadata: { name: "door", namespace: "demo" },
        spec: {
          hosts: ["app.test"],
          gateways: ["demo/door"],
          http: [
            { match: [{ uri: { prefix: "/out" } }], route: [{ destination: { host: "outside.test" } }] },
            { route: [{ destination: { host: "inside.test" } }] },
          ],
        },
      };
      const away = entry("outside", 80, "HTTP", outside.port) as { spec: object };
      const objects = [
        ...[gateway, route, entry("inside", 80, "HTTP", inside.port)],
        { ...away, spec: { ...away.spec, location: "MESH_EXTERNAL" } },
      ];
      await using mesh = await TestMesh.start({
        files: Object.fromEntries(objects.map((object, i) => [`${i}.json`, JSON.stringify(object)])),
        meshConfig,
      });
      const envoy = await mesh.attach(path!, { ...sidecar("door"), type: "router" }, true);
      await envoy.ready(port);
      await mesh.settled();
      const headers = { "x-mesh-peer": said("forger").header! };
      const seen = async (at: string) => (await askWith(port, { path: at, headers })).got?.headers["x-mesh-peer"];
      assert.deepEqual([await seen("/"), await seen("/out")], [said("door").header, undefined]);
      for (const host of ["inside.test", "outside.test"]) {
        const labels = { reporter: "source", source_workload: "door", destination_service: host };
        await until("it is counted", async () => (await counted(envoy, "requests_total", labels)).sum === 1);
      }
    }),
});

Deno.test({
  name: "a series that nothing counts is removed after the interval of the bootstrap, and begins anew",
  ignore,
  fn: () =>
    withPorts(1, async ([port = 0]) => {
      await using app = headerEcho();
      const files = { "in.json": JSON.stringify(ingress("server", "HTTP", port, app.port)) };
      await using mesh = await TestMesh.start({ files, meshConfig });
      const envoy = await mesh.attach(path!, sidecar("server"), true, { evictionInterval: 1 });
      await envoy.ready(port);
      const sum = async () => (await counted(envoy, "requests_total", { destination_workload: "server" })).sum;
      for (let round = 0; round < 2; round++) {
        let [sent, seen] = [0, 0];
        // On a slow machine a series goes between two requests.
        await until("two are counted", async () => {
          await askWith(port);
          sent++;
          return (seen = await sum()) >= 2;
        });
        assert.ok(seen <= sent, `${seen} of ${sent}: requests of the former series count, too`);
        await until("the series is gone", async () => await sum() === 0);
      }
    }),
});
