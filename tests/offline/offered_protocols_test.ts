/**
 * A protocol is offered in TLS where the chain speaks it. Among several ports at one workload port, the first of the
 * service counts.
 */
import assert from "node:assert/strict";
import { checked, explained, resourcesOf, wayOf } from "./way.ts";

const object = (kind: string, namespace: string, name: string, spec: object, group = "networking") =>
  `---\n${JSON.stringify({ apiVersion: `${group}.istio.io/v1`, kind, metadata: { namespace, name }, spec })}\n`;

const entry = (ports: object[]) =>
  object("ServiceEntry", "prod", "own", {
    hosts: ["own.test"],
    location: "MESH_INTERNAL",
    addresses: ["10.8.3.1"],
    resolution: "STATIC",
    ports,
    endpoints: [{ address: "10.9.1.1" }],
  });

const WORLD = object("WorkloadEntry", "prod", "own-1", { address: "10.9.1.1", labels: { app: "own" } }) +
  object("WorkloadEntry", "client", "app-1", { address: "10.9.0.2", labels: { app: "client" } });

interface Chain {
  readonly filter_chain_match?: {
    readonly destination_port?: number;
    readonly application_protocols?: readonly string[];
  };
  readonly filters: readonly { readonly name: string }[];
  readonly transport_socket?: {
    readonly typed_config: { readonly common_tls_context: { readonly alpn_protocols?: readonly string[] } };
  };
}

/** The carried and the offered protocols of each chain with TLS, without duplicates. */
function offers(listeners: readonly Record<string, unknown>[], port?: number): string[] {
  const chains = listeners.flatMap((one) => one.filter_chains as Chain[]);
  const of = chains.filter(({ filter_chain_match: match }) => port === undefined || match?.destination_port === port);
  return [
    ...new Set(of.flatMap(({ filters, transport_socket }) => {
      if (transport_socket === undefined) return [];
      const carries = filters.some(({ name }) => name.endsWith("http_connection_manager")) ? "HTTP" : "bytes";
      return [`${carries}: ${transport_socket.typed_config.common_tls_context.alpn_protocols?.join() ?? "none"}`];
    })),
  ].sort();
}

Deno.test("a gateway that ends TLS before a tcp rule agrees on no version of HTTP, before http rules it does", () => {
  const server = (number: number, protocol: string) => ({
    port: { number, name: `p${number}`, protocol },
    hosts: [`p${number}.test`],
    tls: { mode: "SIMPLE", serverCertificate: "./srv.pem", privateKey: "./srv.key" },
  });
  const servers = [server(8443, "HTTPS"), server(8444, "TLS")];
  const route = [{ destination: { host: "own.test", port: { number: 9000 } } }];
  const yaml = WORLD + entry([{ number: 9000, name: "tcp", protocol: "TCP" }]) +
    object("WorkloadEntry", "prod", "gw-1", { address: "10.9.0.4", labels: { app: "gw" } }) +
    object("Gateway", "prod", "gw", { selector: { app: "gw" }, servers }) +
    object("VirtualService", "prod", "gw", { hosts: ["*"], gateways: ["gw"], http: [{ route }], tcp: [{ route }] });
  const { listeners = [] } = resourcesOf(yaml, "router~10.9.0.4~gw-1.prod~prod.svc.cluster.local", ["lds"]);
  const byPort = listeners.map((one) => [one.name, ...offers([one])].join(" "));
  assert.deepEqual(byPort.sort(), [
    "0.0.0.0_8443 HTTP: h2,http/1.1",
    "0.0.0.0_8444 bytes: none",
  ]);
});

for (
  const [mode, protocol, expected] of [
    ["STRICT", "TCP", ["bytes: none"]],
    ["PERMISSIVE", "TCP", ["bytes: none"]],
    ["STRICT", "HTTP", ["HTTP: h2,http/1.1"]],
    ["STRICT", undefined, ["HTTP: h2,http/1.1", "bytes: none"]],
  ] as const
) {
  Deno.test(`mutual TLS ${mode} on a port with protocol ${protocol ?? "unknown"} offers what its chains speak`, () => {
    const port = { number: 9000, name: "p", targetPort: 9090, ...(protocol && { protocol }) };
    const yaml = WORLD + entry([port]) +
      object("PeerAuthentication", "prod", "all", { mtls: { mode } }, "security");
    const { listeners = [] } = resourcesOf(yaml, "prod/own-1", ["lds"]);
    assert.deepEqual(offers(listeners, 9090), expected);
  });
}

Deno.test("of two ports of a service at one workload port the first in its list gives the protocol; the conflict is found", async () => {
  const [http, tcp] = [
    { number: 90, name: "web", protocol: "HTTP", targetPort: 9090 },
    { number: 80, name: "bytes", protocol: "TCP", targetPort: 9090 },
  ];
  const carriers = (yaml: string) => {
    const { listeners = [] } = resourcesOf(yaml, "prod/own-1", ["lds"]);
    const chains = listeners.flatMap((one) => one.filter_chains as Chain[])
      .filter(({ filter_chain_match: match }) => match?.destination_port === 9090);
    return [...new Set(chains.map(({ filters }) => filters.at(-1)?.name.split(".").at(-1)))];
  };
  assert.deepEqual(carriers(WORLD + entry([http, tcp])), ["http_connection_manager"]);
  assert.deepEqual(carriers(WORLD + entry([tcp, http])), ["tcp_proxy"]);
  const found = (yaml: string) =>
    checked(yaml).filter(({ name }) => name === "inbound-conflict").map(({ message }) => message);
  assert.deepEqual(found(WORLD + entry([http, tcp])), [
    "inbound port 9090: port 90 of own.test has the port, so port 80 is not served there",
  ]);
  assert.deepEqual(found(WORLD + entry([http, { ...tcp, protocol: "HTTP" }])), []);
  assert.equal(
    await wayOf(WORLD + entry([tcp, http]), "client/app-1", "http://own.test:90/"),
    "own.test:90 > 10.9.1.1:9090",
  );
});

/** Notes about ports on the way of a request. */
const notes = async (yaml: string, to: string) =>
  (await explained(yaml, "client/app-1", { to })).notes.filter((note) => note.startsWith("port "));

Deno.test("explain reports which of several ports for one workload port is in force, and which ports are not", async () => {
  const http = entry([{ number: 90, name: "web", protocol: "HTTP", targetPort: 9090 }]);
  const of = (protocol: string) =>
    object("ServiceEntry", "prod", "second", {
      hosts: ["second.test"],
      location: "MESH_INTERNAL",
      addresses: ["10.8.3.2"],
      resolution: "STATIC",
      ports: [{ number: 91, name: "p", protocol, targetPort: 9090 }],
      endpoints: [{ address: "10.9.1.1" }],
    });
  const note = "port 9090 of prod/own is HTTP, as port 90 of own.test (ServiceEntry prod/own) says; " +
    "port 91 of second.test (ServiceEntry prod/second) says TCP, which does not hold there";
  assert.deepEqual(await notes(WORLD + http + of("TCP"), "http://own.test:90/"), [note]);
  assert.deepEqual(await notes(WORLD + http + of("TCP"), "tcp://second.test:91"), [note]);
  assert.deepEqual(await notes(WORLD + http + of("HTTP"), "http://own.test:90/"), []);
  // A Sidecar with the port in its list has its own protocol for the port.
  const sidecar = object("Sidecar", "prod", "own", {
    workloadSelector: { labels: { app: "own" } },
    ingress: [{ port: { number: 9090, name: "p", protocol: "TCP" }, defaultEndpoint: "127.0.0.1:9090" }],
  });
  assert.deepEqual(await notes(WORLD + http + of("TCP") + sidecar, "tcp://second.test:91"), []);
});

Deno.test("explain names the service entry that adds a port to the host of an older one, on both proxies", async () => {
  const younger = object("ServiceEntry", "prod", "own-2", {
    hosts: ["own.test"],
    location: "MESH_INTERNAL",
    addresses: ["10.8.3.1"],
    resolution: "STATIC",
    ports: [{ number: 91, name: "more", protocol: "HTTP", targetPort: 9091 }],
    endpoints: [{ address: "10.9.1.1" }],
  });
  const yaml = WORLD + entry([{ number: 90, name: "web", protocol: "HTTP", targetPort: 9090 }]) + younger;
  const objects = async (port: number) => {
    const { request, hops } = await explained(yaml, "client/app-1", { to: `http://own.test:${port}/` });
    return [...new Set([request.service, ...hops.flatMap(({ steps }) => steps.flatMap(({ object }) => object ?? []))])];
  };
  assert.deepEqual(await objects(90), ["ServiceEntry/prod/own"]);
  assert.deepEqual(await objects(91), ["ServiceEntry/prod/own-2"]);
});
