import assert from "node:assert/strict";
import { parseProtocol, type PortFacts, portProtocol } from "../../lib/registry/protocol.ts";
import type { Protocol } from "../../lib/registry/types.ts";

Deno.test("a protocol is found by its name in any case, and sniffed when unknown", () => {
  const cases: [string | undefined, Protocol][] = [
    ["http", "HTTP"],
    ["HTTP2", "HTTP2"],
    ["Grpc", "GRPC"],
    ["gRPC-Web", "GRPC-Web"],
    ["https", "HTTPS"],
    ["HTTP_PROXY", "HTTP_PROXY"],
    ["tcp", "TCP"],
    ["TLS", "TLS"],
    ["udp", "UDP"],
    ["MONGO", "Mongo"],
    ["mysql", "MySQL"],
    ["redis", "Redis"],
    ["quic", "Unsupported"],
    ["", "Unsupported"],
    [undefined, "Unsupported"],
  ];
  for (const [name, protocol] of cases) assert.equal(parseProtocol(name), protocol, `${name}`);
});

Deno.test("an orchestrator port: transport, then application protocol, then name prefix, then well-known port", () => {
  const cases: [PortFacts, Protocol][] = [
    [{ port: 80, name: "http" }, "HTTP"],
    [{ port: 80, name: "http-api" }, "HTTP"],
    [{ port: 80, name: "httpapi" }, "Unsupported"],
    [{ port: 80, name: "grpc-web-api" }, "GRPC-Web"],
    [{ port: 80, name: "grpc-api" }, "GRPC"],
    [{ port: 80, name: "http2" }, "HTTP2"],
    [{ port: 80, name: "" }, "Unsupported"],
    [{ port: 80, name: "http", transport: "UDP" }, "UDP"],
    [{ port: 80, name: "http", appProtocol: "tcp" }, "TCP"],
    [{ port: 80, name: "http", appProtocol: "weird" }, "Unsupported"],
    [{ port: 80, name: "tcp", appProtocol: "kubernetes.io/h2c" }, "HTTP2"],
    [{ port: 80, name: "tcp", appProtocol: "kubernetes.io/ws" }, "HTTP"],
    [{ port: 80, name: "tcp", appProtocol: "kubernetes.io/wss" }, "HTTPS"],
    [{ port: 80, name: "tcp", appProtocol: "kubernetes.io/other" }, "Unsupported"],
    [{ port: 80, name: "tcp", appProtocol: "mesh.io/redis" }, "Redis"],
    [{ port: 80, name: "tcp", appProtocol: "example.com/http" }, "Unsupported"],
    [{ port: 3306, name: "db" }, "TCP"],
    [{ port: 53, name: "" }, "TCP"],
    [{ port: 3306, name: "mysql" }, "MySQL"],
  ];
  for (const [facts, protocol] of cases) assert.equal(portProtocol(facts), protocol, JSON.stringify(facts));
});
