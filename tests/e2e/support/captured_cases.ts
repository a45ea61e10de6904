/**
 * Tests of captured connections, in a separate network: see `../sidecar_traffic_test.ts`. Connections from one address are
 * redirected to the sidecar, as in a pod; the sidecar's own connections come from another address.
 *
 * Permissions: run (iptables, envoy), net, read, write (a temporary folder), env (ENVOY).
 *
 * @module
 */
import assert from "node:assert/strict";
import http from "node:http";
import net from "node:net";
import { envoyPath, testBothModes, TestMesh } from "./mesh.ts";
import { until } from "../../patience.ts";

/** The address of the workload's connections. */
const WORKLOAD = "127.0.0.2";

/** The ports of the world: of requests, of bytes, and of an undeclared protocol. */
const HTTP = 8080, TCP = 9090, SNIFFED = 7070;

const manifest = (kind: string, name: string, spec: object, apiVersion = "v1", more: object = {}) =>
  JSON.stringify({ apiVersion, kind, metadata: { name, namespace: "demo", ...more }, ...spec });

const PORTS = [
  { name: "http", port: HTTP, appProtocol: "http" },
  { name: "tcp", port: TCP, appProtocol: "tcp" },
  { name: "any", port: SNIFFED },
];

function service(name: string, clusterIP: string, addresses: readonly string[]): string[] {
  const labels = { "kubernetes.io/service-name": name };
  return [
    manifest("Service", name, { spec: { clusterIP, clusterIPs: [clusterIP], ports: PORTS } }),
    manifest(
      "EndpointSlice",
      `${name}-1`,
      {
        addressType: "IPv4",
        ports: PORTS.map(({ name, port, ...rest }) => ({ name, port, protocol: "TCP", ...rest })),
        endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
      },
      "discovery.k8s.io/v1",
      { labels },
    ),
  ];
}

const WILDCARD = manifest(
  "ServiceEntry",
  "wild",
  {
    spec: {
      ...{ hosts: ["*.wild.test"], location: "MESH_EXTERNAL", resolution: "NONE" },
      ports: [{ number: HTTP, name: "http", protocol: "HTTP" }],
    },
  },
  "networking.mesh.io/v1",
);

const WORLD = [
  ...service("web", "10.99.0.1", ["10.99.0.2"]),
  ...service("pods", "None", ["10.99.0.11", "10.99.0.12"]),
  WILDCARD,
].join("\n---\n");

/** Workloads that answer with their own address, over HTTP and over bytes. */
async function workloads(addresses: readonly string[]): Promise<AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  for (const address of addresses) {
    const web = () => http.createServer((_request, response) => void response.end(address));
    const bytes = net.createServer((socket) => socket.on("error", () => {}).end(address));
    for (const [server, port] of [[web(), HTTP], [bytes, TCP], [web(), SNIFFED]] as const) {
      await new Promise<void>((listening) => server.listen(port, address, listening));
      stack.defer(() => new Promise<void>((closed) => server.close(() => closed())));
    }
  }
  return stack;
}

/** A request to an address, from the workload: the body, or the status other than 200. */
function ask(address: string, port: number, host: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const options = { host: address, port, localAddress: WORKLOAD, headers: { host }, agent: false };
  const request = http.get(options, (response) => {
    let body = "";
    response.setEncoding("utf8").on("data", (text) => body += text);
    response.on("end", () => resolve(response.statusCode === 200 ? body : `${response.statusCode}`));
  });
  request.on("error", (error) => resolve(error.message));
  return promise;
}

/** What a connection to an address gets, from the workload. */
function read(address: string, port: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let got = "";
  const socket = net.connect({ host: address, port, localAddress: WORKLOAD });
  socket.setEncoding("utf8").on("data", (text) => got += text);
  socket.on("error", () => {}).on("close", () => resolve(got));
  return promise;
}

async function iptables(...args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command("iptables", { args: [...args] }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

const DOMAIN = "demo.svc.cluster.local";

for (const mode of ["ALLOW_ANY", "REGISTRY_ONLY"] as const) {
  testBothModes({
    name: `connections of a workload under ${mode}`,
    ignore: false,
    async fn(onDemand) {
      await using _servers = await workloads(["10.99.0.2", "10.99.0.11", "10.99.0.12", "10.99.0.21"]);
      await iptables("-t", "nat", "-A", "OUTPUT", "-p", "tcp", "-s", WORKLOAD, "-j", "REDIRECT", "--to-ports", "15001");
      try {
        await using mesh = await TestMesh.start({
          files: { "world.yaml": WORLD },
          meshConfig: { outboundTrafficPolicy: { mode } },
          manifestServices: true,
          onDemand,
        });
        const node = { type: "sidecar", name: "client", namespace: "demo", address: "127.0.0.1", labels: {} } as const;
        const envoy = await mesh.attach(envoyPath()!, node, true, { interceptionMode: "REDIRECT" });
        await envoy.ready(15001);
        await until("the listeners", async () => await ask("10.99.0.1", HTTP, `web.${DOMAIN}`) === "10.99.0.2");
        const passes = mode === "ALLOW_ANY";
        const found = {
          short: await ask("10.99.0.1", HTTP, "web"),
          bytes: await read("10.99.0.1", TCP),
          sniffed: await ask("10.99.0.1", SNIFFED, "web"),
          headless: await ask("10.99.0.11", HTTP, `pods.${DOMAIN}`),
          other: await ask("10.99.0.12", HTTP, `pods.${DOMAIN}`),
          bytesOfPod: await read("10.99.0.12", TCP),
          wildcard: await ask("10.99.0.21", HTTP, "some.wild.test"),
          stranger: await ask("10.99.0.21", HTTP, "stranger.example"),
          address: await read("10.99.0.21", TCP),
        };
        assert.deepEqual(found, {
          ...{ short: "10.99.0.2", bytes: "10.99.0.2", sniffed: "10.99.0.2" },
          ...{ headless: "10.99.0.11", other: "10.99.0.12", bytesOfPod: "10.99.0.12", wildcard: "10.99.0.21" },
          stranger: passes ? "10.99.0.21" : "502",
          address: passes ? "10.99.0.21" : "",
        });
        await mesh.settled();
      } finally {
        await iptables("-t", "nat", "-F", "OUTPUT");
      }
    },
  });
}
