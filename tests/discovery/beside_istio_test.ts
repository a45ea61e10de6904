/** Proxies of Istio and of this control plane talk mutual TLS to each other while namespaces move. */
import assert from "node:assert/strict";
import { Fixture, service, texts } from "./fixture.ts";

const AGENT = { PROXY_CONFIG: { stringValue: "{}" } };
const PORTS = [
  { number: 80, name: "http-web", protocol: "HTTP" },
  { number: 81, name: "tcp-db", protocol: "TCP" },
  { number: 82, name: "any", protocol: "" },
];

interface Chain {
  readonly filter_chain_match: {
    readonly destination_port?: { readonly value: number };
    readonly transport_protocol?: string;
    readonly application_protocols?: readonly string[];
  };
  readonly transport_socket?: unknown;
  readonly filters: readonly { readonly name: string }[];
}

/** A mesh with a workload of Istio (s2) and a workload of this control plane (s1), and the resources of s1. */
function resourcesOf(mode: string): Record<string, string> {
  const fixture = new Fixture();
  const ports = PORTS.map(({ protocol, ...port }) => protocol === "" ? port : { ...port, protocol });
  const entry = (i: number, labels: Record<string, string>) => {
    const made = service(i, { endpoint: { serviceAccount: `account-${i}`, labels: { app: `s${i}`, ...labels } } }) as {
      readonly spec: object;
    };
    return { ...made, spec: { ...made.spec, ports } };
  };
  fixture.put(
    entry(1, { "security.mesh.io/tlsMode": "mesh" }),
    entry(2, { "security.istio.io/tlsMode": "istio" }),
    {
      ...{ apiVersion: "security.istio.io/v1", kind: "PeerAuthentication" },
      ...{ metadata: { name: "default", namespace: "x" }, spec: { mtls: { mode } } },
    },
  );
  fixture.pipeline.flush();
  const state = fixture.join({
    ...{ namespace: "x", address: "10.0.0.1", name: "s1", labels: { app: "s1" }, metadata: AGENT },
  });
  assert.deepEqual(fixture.failures, []);
  return texts(state);
}

/** The chain that Envoy takes: of the port, for TLS, by the first protocol of the client that a chain names. */
function chainFor(chains: readonly Chain[], port: number, offered: readonly string[]): Chain | undefined {
  const ofPort = chains.filter(({ filter_chain_match: { destination_port, transport_protocol } }) =>
    destination_port?.value === port && transport_protocol === "tls"
  );
  const byProtocol = offered.map((protocol) =>
    ofPort.find(({ filter_chain_match: match }) => match.application_protocols?.includes(protocol))
  );
  return byProtocol.find((chain) => chain !== undefined) ??
    ofPort.find(({ filter_chain_match: match }) => match.application_protocols === undefined);
}

/** Protocols that Istio's sidecars offer: `istio.alpn` puts its names before those of HTTP. */
const OFFERED: readonly (readonly [port: number, offered: readonly string[], filter: RegExp])[] = [
  [80, ["istio-http/1.1", "istio", "http/1.1"], /http_connection_manager/],
  [80, ["istio-h2", "istio", "h2"], /http_connection_manager/],
  [81, ["istio-peer-exchange", "istio"], /tcp_proxy/],
  [82, ["istio-http/1.1", "istio", "http/1.1"], /http_connection_manager/],
  [82, ["istio-peer-exchange", "istio"], /tcp_proxy/],
];

for (const mode of ["STRICT", "PERMISSIVE"]) {
  Deno.test(`${mode}: what Istio's sidecars offer reaches the port's filters over mutual TLS, and their exchange of metadata is never agreed on`, () => {
    const chains = JSON.parse(resourcesOf(mode)["listener/virtualInbound"]!).filter_chains as readonly Chain[];
    for (const [port, offered, filter] of OFFERED) {
      const chain = chainFor(chains, port, offered);
      const what = `${port} ${offered.join()}`;
      assert.ok(chain !== undefined && chain.filters.some(({ name }) => filter.test(name)), what);
      const socket = JSON.stringify(chain.transport_socket);
      assert.match(socket, /"require_client_certificate":(?:true|\{"value":true\})/, what);
      // A client with Istio's filter sends data before the first byte once the server agrees on the protocol.
      assert.doesNotMatch(socket, /istio-peer-exchange/, what);
    }
  });
}

Deno.test("an endpoint with Istio's label is called over mutual TLS, under the names of its account and of its service in Istio's form", () => {
  const all = resourcesOf("STRICT");
  const cluster = all["cluster/outbound|80||s2.example.com"]!;
  assert.match(cluster, /"sni":"outbound_\.80_\._\.s2\.example\.com"/);
  assert.match(cluster, /"spiffe:\/\/cluster\.local\/ns\/x\/sa\/account-2"/);
  assert.match(cluster, /"istio-http\/1\.1","istio"/);
  const endpoints = all["assignment/outbound|80||s2.example.com"]!;
  assert.match(endpoints, /"envoy\.transport_socket_match":\{[^}]*tlsMode/);
});
