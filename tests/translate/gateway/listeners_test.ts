import assert from "node:assert/strict";
import { decode } from "../../../lib/pb/reflect.ts";
import { gatewayHosts } from "../../../lib/translate/gateway/hosts.ts";
import { gatewayListeners } from "../../../lib/translate/gateway/listeners.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { ReaderWorld } from "../mesh_reader.ts";
import { gatewayWorldOf } from "./gateway_world.ts";

type Hcm = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;
type TcpProxy = envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy;
type Tls = envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext;

const api = "networking.mesh.io/v1";
const files = { serverCertificate: "/c.pem", privateKey: "/k.pem" };

function gateway(servers: readonly object[], name = "gw"): object {
  return { apiVersion: api, kind: "Gateway", metadata: { name, namespace: "edge" }, spec: { servers } };
}

function server(number: number, protocol: string, hosts: readonly string[], more: object = {}): object {
  return {
    port: { number, protocol, name: `${protocol.toLowerCase()}-${number}-${hosts[0]?.length}` },
    hosts,
    ...more,
  };
}

function virtualService(name: string, hosts: readonly string[], rules: object): object {
  const metadata = { name, namespace: "edge" };
  return { apiVersion: api, kind: "VirtualService", metadata, spec: { hosts, gateways: ["gw"], ...rules } };
}

const to = (host: string, port?: number) => ({
  route: [{ destination: { host, ...(port && { port: { number: port } }) } }],
});

function build(documents: readonly object[], world: ReaderWorld = {}) {
  const { read } = gatewayWorldOf(documents, world);
  const { listeners, problems } = gatewayListeners(read);
  return { read, listeners: listeners.map(({ message }) => message), problems };
}

function config<T>(filter: envoy.config.listener.v3.Filter | undefined): T {
  const { type_url, value } = filter!.typed_config!;
  return decode<T>(type_url!.split("/")[1]!, value as Uint8Array);
}

function manager(documents: readonly object[], world: ReaderWorld = {}): Hcm {
  return config<Hcm>(build(documents, world).listeners[0]?.filter_chains?.[0]?.filters?.[0]);
}

const http = gateway([server(8080, "HTTP", ["*"])]);

Deno.test("the proxy's own topology replaces the mesh's: trusted hops and client certificates", () => {
  const mesh = { gatewayTopology: { numTrustedProxies: 1, forwardClientCertDetails: "FORWARD_ONLY" as const } };
  const meshWorld = { mesh: { defaultConfig: mesh as never } };
  const byMesh = manager([http], meshWorld);
  assert.equal(byMesh.xff_num_trusted_hops, 1);
  assert.equal(byMesh.forward_client_cert_details, 1);
  assert.equal(byMesh.set_current_client_cert_details, undefined, "nothing is added to what is only forwarded");
  const own = { numTrustedProxies: 2, forwardClientCertDetails: "UNDEFINED" as const };
  const byProxy = manager([http], { ...meshWorld, properties: { gatewayTopology: own } });
  assert.equal(byProxy.xff_num_trusted_hops, 2);
  assert.equal(byProxy.forward_client_cert_details, 3);
});

Deno.test("by default the gateway trusts its peer address, and forwards all of the client's certificate", () => {
  const plain = manager([http]);
  assert.equal(plain.use_remote_address?.value, true);
  assert.equal(plain.xff_num_trusted_hops, undefined);
  assert.deepEqual(plain.set_current_client_cert_details, {
    subject: { value: true },
    cert: true,
    dns: true,
    uri: true,
  });
});

Deno.test("the PROXY protocol header is taken off first where the topology has one", () => {
  const gatewayTopology = { forwardClientCertDetails: "UNDEFINED" as const, proxyProtocol: {} };
  const secured = gateway([server(8443, "HTTPS", ["a.com"], { tls: { mode: "SIMPLE", ...files } })]);
  const names = (world: ReaderWorld) => build([secured], world).listeners[0]?.listener_filters?.map((f) => f.name);
  assert.deepEqual(names({ properties: { gatewayTopology } }), [
    "envoy.filters.listener.proxy_protocol",
    "envoy.filters.listener.tls_inspector",
  ]);
  assert.deepEqual(names({}), ["envoy.filters.listener.tls_inspector"]);
});

Deno.test("virtual services that route requests are no part of a listener, so their changes do not touch it", () => {
  const { read } = build([http, virtualService("a", ["a.com"], { http: [to("a.svc")] })]);
  assert.deepEqual(read.asked.filter((question) => question.startsWith("virtualService")), []);
  assert.ok(!read.asked.includes("property/namespace"), "any namespace may share it");
});

Deno.test("an unprivileged proxy gets no port below 1024, with a finding", () => {
  const low = gateway([server(80, "HTTP", ["*"]), server(8080, "HTTP", ["a.com"])]);
  const { listeners, problems } = build([low], { properties: { isUnprivileged: true } });
  assert.deepEqual(listeners.map(({ name }) => name), ["0.0.0.0_8080"]);
  assert.deepEqual(problems.map(({ reason, port }) => [reason, port]), [["privilegedPort", 80]]);
});

Deno.test("IPv6 proxies listen on all IPv6 addresses; dual-stack proxies on both families in one listener", () => {
  const addresses = (world: ReaderWorld) => {
    const [listener] = build([http], world).listeners;
    const more = listener?.additional_addresses?.map(({ address }) => address?.socket_address?.address) ?? [];
    return [listener?.name, listener?.address?.socket_address?.address, ...more];
  };
  assert.deepEqual(addresses({ properties: { ipv4: false, ipv6: true } }), ["::_8080", "::"]);
  assert.deepEqual(addresses({ properties: { ipv6: true }, settings: { dualStack: true } }), [
    "0.0.0.0_8080",
    "0.0.0.0",
    "::",
  ]);
  assert.deepEqual(addresses({ properties: { ipv6: true } }), ["0.0.0.0_8080", "0.0.0.0"]);
});

/** Refused TLS settings, with the reason. */
const refused: readonly [object, string][] = [
  [{ mode: "SIMPLE", credentialName: "secret" }, "certificateByName"],
  [{ mode: "MUTUAL", credentialNames: ["rsa", "ecdsa"] }, "certificateByName"],
  [{ mode: "SIMPLE", ...files, subjectAltNames: ["client.good"] }, "uncheckedClients"],
  [{ mode: "SIMPLE", ...files, verifyCertificateHash: ["00".repeat(32)] }, "uncheckedClients"],
  [{ mode: "MESH_MUTUAL" }, "meshCertificate"],
  [{ mode: "ISTIO_MUTUAL" }, "meshCertificate"],
];

for (const [tls, reason] of refused) {
  Deno.test(`a server with tls ${JSON.stringify(tls)} is left out (${reason}); others on its port are served`, () => {
    const good = server(8443, "HTTPS", ["good.com"], { tls: { mode: "SIMPLE", ...files } });
    const { listeners, problems } = build([gateway([server(8443, "HTTPS", ["bad.com"], { tls }), good])]);
    assert.deepEqual(problems.map((p) => [p.reason, p.cause, p.index]), [[reason, "Gateway/edge/gw", 0]]);
    const matches = listeners[0]?.filter_chains?.map((chain) => chain.filter_chain_match?.server_names);
    assert.deepEqual(matches, [["good.com"]]);
  });
}

Deno.test("a port where nothing is left to serve has no listener", () => {
  const { listeners, problems } = build([gateway([
    server(8443, "HTTPS", ["a.com"], { tls: { mode: "SIMPLE", credentialName: "x" } }),
    server(9000, "TCP", ["*"]),
    server(9001, "TLS", ["*"], { tls: { mode: "PASSTHROUGH" } }),
  ])]);
  assert.deepEqual(listeners, []);
  assert.deepEqual(problems.map(({ reason }) => reason), ["certificateByName", "noRoute", "noRoute"]);
});

Deno.test("cipher suites unknown to Envoy are dropped and reported; groups of known suites stay", () => {
  const known = "ECDHE-RSA-AES128-GCM-SHA256";
  const cipherSuites = [known, known, "SHA", `[${known}|AES256-SHA]`, "NOPE", `[${known}|NOPE]`];
  const tls = { mode: "SIMPLE", ...files, cipherSuites };
  const { listeners, problems } = build([gateway([server(8443, "HTTPS", ["a.com"], { tls })])]);
  const socket = listeners[0]?.filter_chains?.[0]?.transport_socket;
  const context = config<Tls>(socket as envoy.config.listener.v3.Filter);
  assert.deepEqual(context.common_tls_context?.tls_params?.cipher_suites, [
    known,
    `[${known}|AES256-SHA]`,
  ]);
  assert.deepEqual(problems.map(({ reason }) => reason), ["ignoredCipherSuites"]);
  assert.match(problems[0]!.message, /SHA, NOPE, \[ECDHE-RSA-AES128-GCM-SHA256\|NOPE\]/);
});

Deno.test("of two tls rules that want one server name the older gets it, and the younger keeps its other names", () => {
  const rule = (names: readonly string[], host: string) => ({
    tls: [{ match: [{ sniHosts: names }], ...to(host, 443) }],
  });
  const { listeners, problems } = build([
    gateway([server(8443, "TLS", ["*.com"], { tls: { mode: "PASSTHROUGH" } })]),
    virtualService("a", ["x.com", "y.com"], rule(["x.com", "y.com"], "a.svc")),
    virtualService("b", ["y.com", "z.com"], rule(["y.com", "z.com"], "b.svc")),
  ]);
  const chains = listeners[0]?.filter_chains?.map((chain) => [
    chain.filter_chain_match?.server_names,
    config<TcpProxy>(chain.filters?.[0]).cluster,
  ]);
  assert.deepEqual(chains, [[["x.com", "y.com"], "outbound|443||a.svc"], [["z.com"], "outbound|443||b.svc"]]);
  assert.deepEqual(problems.map(({ cause, reason }) => [cause, reason]), [["VirtualService/edge/b", "duplicateHosts"]]);
});

Deno.test("a server that ends TLS keeps its name before any rule that would pass it on", () => {
  const { listeners, problems } = build([
    gateway([
      server(8443, "TLS", ["*.com"], { tls: { mode: "PASSTHROUGH" } }),
      server(8443, "HTTPS", ["x.com"], { tls: { mode: "SIMPLE", ...files } }),
    ]),
    virtualService("a", ["x.com"], { tls: [{ match: [{ sniHosts: ["x.com"] }], ...to("a.svc", 443) }] }),
  ]);
  assert.equal(listeners[0]?.filter_chains?.length, 1);
  assert.ok(listeners[0]?.filter_chains?.[0]?.transport_socket);
  assert.deepEqual(problems.map(({ reason }) => reason), ["duplicateHosts"]);
});

Deno.test("the first tcp rule for the server's port and gateway decides; rules of others do not count", () => {
  const { listeners } = build([
    gateway([server(9000, "TCP", ["./*.com"])]),
    virtualService("a", ["x.org"], { tcp: [to("host-of-no-server.svc", 1)] }),
    virtualService("b", ["x.com"], {
      tcp: [
        { match: [{ port: 9001 }], ...to("port.svc", 1) },
        { match: [{ gateways: ["edge/other"] }], ...to("gateway.svc", 1) },
        { match: [{ port: 9001 }, { port: 9000, gateways: ["gw"] }], ...to("right.svc", 1) },
        to("late.svc", 1),
      ],
    }),
  ]);
  assert.equal(config<TcpProxy>(listeners[0]?.filter_chains?.[0]?.filters?.[0]).cluster, "outbound|1||right.svc");
});

Deno.test("a gateway needs the destinations of its virtual services, and the hosts of the mesh's providers", () => {
  const { read } = build([
    gateway([server(8080, "HTTP", ["*"])]),
    virtualService("a", ["a.com"], {
      http: [{ ...to("a.svc"), mirror: { host: "mirror.svc" } }],
      tcp: [to("tcp.svc")],
    }),
    virtualService("hidden", ["b.com"], { http: [to("hidden.svc")], exportTo: ["."] }),
    { ...virtualService("other", ["c.com"], { http: [to("other.svc")], gateways: ["elsewhere"] }) },
  ], {
    mesh: {
      extensionProviders: [
        { name: "authz", proxyExtAuthzGrpc: { service: "ns/authz.svc", port: 1 } },
        { name: "metrics", prometheus: {} },
      ],
    },
  });
  assert.deepEqual([...gatewayHosts(read)].sort(), ["a.svc", "authz.svc", "mirror.svc", "tcp.svc"]);
});
