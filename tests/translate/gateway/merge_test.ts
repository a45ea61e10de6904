import assert from "node:assert/strict";
import type { GatewayServerSpec } from "../../../lib/config/kinds/gateway/schema.ts";
import type { ConfigObject } from "../../../lib/config/types.ts";
import type { ServiceTarget } from "../../../lib/registry/inbound.ts";
import { mergeGateways } from "../../../lib/translate/gateway/merge.ts";
import { NO_PORT_TRANSLATION_LABEL } from "../../../lib/translate/gateway/port.ts";
import { inFile } from "../../config/origins.ts";

const FILES = { serverCertificate: "/c.pem", privateKey: "/k.pem" };

/** `protocol number name host...` with an optional `@bind`, `+redirect`, `+simple`, `+passthrough`, `+auto`. */
function server(text: string): GatewayServerSpec {
  const words = text.split(" ");
  const [protocol = "", number = "", name = ""] = words;
  const rest = words.slice(3);
  const tls = { minProtocolVersion: "TLS_AUTO", maxProtocolVersion: "TLS_AUTO" } as const;
  const modes: Record<string, GatewayServerSpec["tls"]> = {
    "+redirect": { ...tls, mode: "PASSTHROUGH", httpsRedirect: true },
    "+simple": { ...tls, mode: "SIMPLE", ...FILES },
    "+passthrough": { ...tls, mode: "PASSTHROUGH" },
    "+auto": { ...tls, mode: "AUTO_PASSTHROUGH" },
  };
  const mode = rest.find((word) => word.startsWith("+"));
  const bind = rest.find((word) => word.startsWith("@"));
  const settings = mode === undefined ? undefined : modes[mode];
  return {
    port: { number: Number(number), protocol, name },
    hosts: rest.filter((word) => !/^[+@]/.test(word)),
    ...(settings && { tls: settings }),
    ...(bind && { bind: bind.slice(1) }),
  };
}

function gateway(name: string, ...servers: string[]): ConfigObject<"Gateway"> {
  return {
    kind: "Gateway",
    key: `Gateway/ns/${name}`,
    meta: { name, namespace: "ns", labels: {}, annotations: {}, creationTimestamp: 0 },
    spec: { servers: servers.map(server) },
    origin: inFile("test"),
    hash: "",
  };
}

interface Case {
  readonly proves: string;
  readonly gateways: readonly ConfigObject<"Gateway">[];
  /** `port[@bind] kind: gateway[index] ...`. */
  readonly ports: readonly string[];
  readonly routes?: Readonly<Record<string, readonly string[]>>;
  /** `reason gateway[index]`. */
  readonly problems?: readonly string[];
}

const cases: readonly Case[] = [
  {
    proves: "plain HTTP servers of one port share one route configuration, for any version of HTTP",
    gateways: [gateway("a", "HTTP 80 http a.com"), gateway("b", "GRPC 80 grpc b.com", "HTTP2 81 h2 b.com")],
    ports: ["80 http: a[0] b[0]", "81 http: b[1]"],
    routes: { "http.80": ["a[0]", "b[0]"], "http.81": ["b[1]"] },
  },
  {
    proves: "a redirect to HTTPS is plain HTTP, and two of them with the same host do not clash",
    gateways: [gateway("a", "HTTP 80 http * +redirect"), gateway("b", "HTTP 80 http * +redirect")],
    ports: ["80 http: a[0] b[0]"],
    routes: { "http.80": ["a[0]", "b[0]"] },
  },
  {
    proves: "servers that end TLS have a route configuration each",
    gateways: [gateway("a", "HTTPS 443 x a.com +simple", "HTTPS 443 y b.com +simple")],
    ports: ["443 tls: a[0] a[1]"],
    routes: { "https.443.x.a.ns": ["a[0]"], "https.443.y.a.ns": ["a[1]"] },
  },
  {
    proves: "TLS that passes and TLS that ends share a port, and have no route configuration without HTTP",
    gateways: [
      gateway("a", "TLS 443 x a.com +passthrough", "TLS 443 y b.com +simple", "HTTPS 443 z c.com +passthrough"),
    ],
    ports: ["443 tls: a[0] a[1] a[2]"],
    routes: {},
  },
  {
    proves: "the older object keeps a port whose protocol is contested",
    gateways: [gateway("a", "HTTP 80 http a.com"), gateway("b", "TCP 80 tcp b.com", "HTTPS 80 https c.com +simple")],
    ports: ["80 http: a[0]"],
    problems: ["protocolConflict b[0]", "protocolConflict b[1]"],
  },
  {
    proves: "a TCP port has one server",
    gateways: [gateway("a", "TCP 9000 x *", "TCP 9000 y *"), gateway("b", "MONGO 9000 z *")],
    ports: ["9000 tcp: a[0]"],
    problems: ["protocolConflict a[1]", "protocolConflict b[0]"],
  },
  {
    proves: "a server loses whole when an older one on the port has one of its hosts, also by another namespace",
    gateways: [
      gateway("a", "HTTPS 443 x a.com +simple"),
      gateway("b", "HTTPS 443 y b.com other/a.com +simple", "TLS 443 z b.com +passthrough"),
    ],
    ports: ["443 tls: a[0] b[1]"],
    routes: { "https.443.x.a.ns": ["a[0]"] },
    problems: ["duplicateHosts b[0]"],
  },
  {
    proves: "the same host on another port or bind is no clash",
    gateways: [
      gateway("a", "HTTPS 443 x a.com +simple", "HTTPS 444 y a.com +simple", "HTTPS 443 z a.com +simple @10.0.0.1"),
    ],
    ports: ["443 tls: a[0]", "444 tls: a[1]", "443@10.0.0.1 tls: a[2]"],
    routes: {
      "https.443.x.a.ns": ["a[0]"],
      "https.444.y.a.ns": ["a[1]"],
      "https.443.z.a.ns.10.0.0.1": ["a[2]"],
    },
  },
  {
    proves: "another bind is another address, so protocols may differ and route configurations do",
    gateways: [gateway("a", "HTTP 80 x a.com", "TCP 80 y * @10.0.0.1", "HTTP 80 z c.com @10.0.0.2")],
    ports: ["80 http: a[0]", "80@10.0.0.1 tcp: a[1]", "80@10.0.0.2 http: a[2]"],
    routes: { "http.80": ["a[0]"], "http.80.10.0.0.2": ["a[2]"] },
  },
  {
    proves: "a bind that spells out all addresses is none",
    gateways: [gateway("a", "HTTP 80 x a.com", "HTTP 80 y b.com @0.0.0.0", "TCP 80 z * @0.0.0.0")],
    ports: ["80 http: a[0] a[1]"],
    routes: { "http.80": ["a[0]", "a[1]"] },
    problems: ["protocolConflict a[2]"],
  },
  {
    proves: "a port name must be the object's only one on its port where TLS ends",
    gateways: [gateway("a", "HTTPS 443 x a.com +simple", "HTTPS 443 x b.com +simple")],
    ports: ["443 tls: a[0]"],
    problems: ["duplicatePortName a[1]"],
  },
  {
    proves: "HTTPS without tls settings is left out, and leaves its port to others",
    gateways: [gateway("a", "HTTPS 443 x a.com", "HTTP 443 y a.com")],
    ports: ["443 http: a[1]"],
    problems: ["missingTls a[0]"],
  },
  {
    proves: "what lost a conflict claims no host",
    gateways: [
      gateway("a", "HTTPS 443 x a.com +simple", "HTTPS 443 y a.com b.com +simple", "HTTPS 443 z b.com +simple"),
    ],
    ports: ["443 tls: a[0] a[2]"],
    problems: ["duplicateHosts a[1]"],
  },
];

for (const { proves, gateways, ports, routes, problems = [] } of cases) {
  Deno.test({
    name: `merging gateways: ${proves}`,
    permissions: "none",
    fn() {
      const merged = mergeGateways(gateways);
      const short = (s: { gateway: string; index: number }) => `${s.gateway.slice(3)}[${s.index}]`;
      const portText = merged.ports.map(({ port, bind, kind, servers }) =>
        `${port}${bind && `@${bind}`} ${kind}: ${servers.map(short).join(" ")}`
      );
      assert.deepEqual(portText, ports);
      assert.deepEqual(
        merged.problems.map(({ reason, cause, index }) => `${reason} ${cause.split("/")[2]}[${index}]`),
        problems,
      );
      for (const { message } of merged.problems) assert.match(message, /^Gateway ns\/\w+ servers\[\d\] \(port \d+, /);
      if (routes) {
        const found = [...merged.routes].map(([name, servers]) => [name, servers.map(short)] as const);
        assert.deepEqual(Object.fromEntries(found), routes);
      }
    },
  });
}

function target(
  port: number,
  endpointPort: number,
  labels: Record<string, string> = {},
  protocol = "TCP",
): ServiceTarget {
  const service = { labels, hostname: "gw.ns" } as unknown as ServiceTarget["service"];
  return { service, port: { name: "p", port, protocol: protocol as "TCP" }, endpointPort };
}

const portCases: readonly [string, readonly ServiceTarget[], string, Record<string, readonly string[]>][] = [
  ["a service port is the workload's port behind it", [target(80, 8080)], "8080", { "http.8080": ["80"] }],
  ["a port of no service is taken as it is", [target(8000, 8080)], "80", { "http.80": ["80"] }],
  ["the first service that has the port decides", [target(80, 8080), target(80, 9090)], "8080", {
    "http.8080": ["80"],
  }],
  ["a service may keep its ports out of it", [target(80, 8080, { [NO_PORT_TRANSLATION_LABEL]: "true" })], "80", {
    "http.80": ["80"],
  }],
  ["UDP ports are no ports of servers", [target(80, 8080, {}, "UDP")], "80", { "http.80": ["80"] }],
];

for (const [proves, targets, port, routes] of portCases) {
  Deno.test({
    name: `ports of gateways: ${proves}`,
    permissions: "none",
    fn() {
      const merged = mergeGateways([gateway("a", "HTTP 80 http a.com")], targets);
      assert.deepEqual(merged.ports.map((p) => String(p.port)), [port]);
      const found = [...merged.routes].map(([name, servers]) => [name, servers.map((s) => String(s.spec.port.number))]);
      assert.deepEqual(Object.fromEntries(found), routes);
    },
  });
}

Deno.test({
  name: "two service ports with one port at the workload share its listener and its route configuration",
  permissions: "none",
  fn() {
    const both = gateway("a", "HTTP 80 http a.com", "HTTP 8000 other b.com");
    const merged = mergeGateways([both], [target(80, 8080), target(8000, 8080)]);
    assert.deepEqual(merged.ports.map((p) => p.port), [8080]);
    assert.deepEqual([...merged.routes.keys()], ["http.8080"]);
    assert.deepEqual(merged.problems, []);
  },
});
