/** Spans and logs of real Envoys at receivers of each kind: relations, names of services, Datadog, SkyWalking, TCP. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { resourceAttributes } from "../../lib/agent/node/resource_attributes.ts";
import { testCollector } from "./support/collector.ts";
import { askWith, headerEcho } from "./support/header_echo.ts";
import { envoyPath, testBothModes, type TestEnvoy, TestMesh } from "./support/mesh.ts";
import { until } from "../patience.ts";

const path = envoyPath();
const ignore = path === undefined;

const object = (kind: string, group: string, name: string, spec: object) =>
  JSON.stringify({ apiVersion: `${group}.istio.io/v1`, kind, metadata: { name, namespace: "demo" }, spec });

function entry(name: string, number: number, protocol: string, targetPort: number): string {
  const ports = [{ number, protocol, name: protocol.toLowerCase(), targetPort }];
  const endpoints = [{ address: "127.0.0.1" }];
  const spec = { hosts: [`${name}.test`], location: "MESH_INTERNAL", resolution: "STATIC", ports, endpoints };
  return object("ServiceEntry", "networking", name, spec);
}

/** The ingress of the server's proxy, for an application. The proxy sends only to the collector. */
function ingress(protocol: string, port: number, application: number): string {
  return object("Sidecar", "networking", "server", {
    workloadSelector: { labels: { app: "server" } },
    egress: [{ hosts: ["./collector.test"] }],
    ingress: [{
      port: { number: port, protocol, name: "in" },
      defaultEndpoint: `127.0.0.1:${application}`,
      bind: "127.0.0.1",
      captureMode: "NONE",
    }],
  });
}

interface Sent {
  readonly provider: object;
  readonly telemetry: object;
  /** Port of the collector. */
  readonly port: number;
  readonly protocol?: "HTTP" | "GRPC";
  /** Protocol of the carried traffic. */
  readonly carried?: "HTTP" | "TCP";
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly variables?: (name: string) => Readonly<Record<string, string>>;
  readonly serverVariable?: (name: string) => string | undefined;
  readonly onDemand?: boolean;
}

interface Sidecars {
  readonly mesh: TestMesh;
  readonly client: TestEnvoy;
  readonly server: TestEnvoy;
  /** Port of the client's proxy, which leads to the application. */
  readonly port: number;
}

/** Runs a test with a client's proxy, a server's proxy and an application, all of which report to a collector. */
function withSidecars(sent: Sent, test: (sidecars: Sidecars) => Promise<void>): Promise<void> {
  const { provider, telemetry, port: collector, protocol = "GRPC", carried = "HTTP", metadata = {}, onDemand = false } =
    sent;
  return withPorts(3, async ([here = 0, there = 0, reports = 0]) => {
    await using app = headerEcho();
    const objects = [
      entry("app", here, carried, there),
      entry("collector", reports, protocol, collector),
      ingress(carried, there, app.port),
      object("Telemetry", "telemetry", "sent", telemetry),
    ];
    await using mesh = await TestMesh.start({
      onDemand,
      files: { "world.yaml": objects.join("\n---\n") },
      meshConfig: {
        extensionProviders: [{
          name: "to",
          ...Object.fromEntries(
            Object.entries(provider).map(([kind, fields]) => [kind, {
              service: "demo/collector.test",
              port: reports,
              ...fields,
            }]),
          ),
        }],
      },
      ...(sent.serverVariable ? { variable: sent.serverVariable } : {}),
    });
    const attach = async (name: string, port: number) => {
      const identity = { type: "sidecar", namespace: "demo", address: "127.0.0.1", labels: { app: name } } as const;
      const variables = sent.variables?.(name) ?? {};
      const envoy = await mesh.attach(path!, { ...identity, name, metadata }, true, { variables });
      await envoy.ready(port);
      return envoy;
    };
    const server = await attach("server", there);
    const client = await attach("client", here);
    await test({ mesh, client, server, port: here });
    await mesh.settled();
  });
}

const tracing = { tracing: [{ providers: [{ name: "to" }], randomSamplingPercentage: 100 }] };

async function asked(port: number, what: string): Promise<void> {
  assert.equal((await askWith(port, { path: what })).status, 200);
}

testBothModes({
  name:
    "the span of a server is the child of its client's span, in one trace, and both have the names of their services",
  ignore,
  fn: async (onDemand) => {
    await using collector = await testCollector();
    const { spans } = collector;
    const sent = { provider: { opentelemetry: {} }, telemetry: tracing, port: collector.port, onDemand };
    await withSidecars(sent, async ({ port }) => {
      await asked(port, "/related");
      await until("both spans are there", () => spans.length >= 2);
    });
    const client = spans.find(({ kind }) => kind === "client");
    const server = spans.find(({ kind }) => kind === "server");
    assert.deepEqual([client?.service, server?.service], ["client.demo", "server.demo"]);
    assert.deepEqual([server?.trace, server?.parent], [client?.trace, client?.id]);
    assert.equal(client?.parent, "");
    assert.match(client?.trace ?? "", /^[0-9a-f]{32}$/);
  },
});

/** A proxy whose agent names the service by variables. */
const NAMED = {
  metadata: { OTEL_SERVICE_NAMED: "true" },
  variables: (name: string) => ({ OTEL_RESOURCE_ATTRIBUTES: resourceAttributes("team=a,broken", `${name}.named`) }),
};

Deno.test({
  name: "a proxy that reads the name of its service from its variable reports it, and shares listeners with others",
  ignore,
  fn: async () => {
    await using collector = await testCollector();
    const { spans, got } = collector;
    const sent = { provider: { opentelemetry: {} }, telemetry: tracing, port: collector.port, ...NAMED };
    await withSidecars(sent, async ({ port, client }) => {
      await asked(port, "/named");
      await until("both spans are there", () => spans.length >= 2);
      assert.doesNotMatch(await client.admin("config_dump?resource=dynamic_listeners") ?? "", /client\.demo/);
    });
    assert.deepEqual([...new Set(spans.map(({ service }) => service))].sort(), ["client.named", "server.named"]);
    assert.match(got.spans[0] ?? "", /team[^]{0,8}a/);
  },
});

/** Requests over HTTP: path, header `x-key` and body as text. */
function httpReceiver() {
  const got: { readonly path: string; readonly key: string | null; readonly body: string }[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const body = new TextDecoder().decode(await request.arrayBuffer());
    got.push({ path: new URL(request.url).pathname, key: request.headers.get("x-key"), body });
    return new Response("{}");
  });
  return { port: server.addr.port, got, [Symbol.asyncDispose]: () => server.shutdown() };
}

Deno.test({
  name: "Datadog gets traces of both sides, each with the name of its service",
  ignore,
  fn: async () => {
    await using receiver = httpReceiver();
    const sent = { provider: { datadog: {} }, telemetry: tracing, port: receiver.port, protocol: "HTTP" } as const;
    const traces = () => receiver.got.filter(({ path, body }) => path === "/v0.4/traces" && body.includes("/datadog"));
    await withSidecars(sent, async ({ port }) => {
      await asked(port, "/datadog");
      await until("both traces are there", () => traces().length >= 2);
    });
    const bodies = traces().map(({ body }) => body).join();
    for (const service of ["client.demo", "server.demo"]) assert.match(bodies, new RegExp(`service[^]{0,6}${service}`));
  },
});

Deno.test({
  name:
    "SkyWalking gets segments of both sides, each with the name of its service, and the server's segment refers to the client",
  ignore,
  fn: async () => {
    await using collector = await testCollector();
    const { segments } = collector.got;
    const sent = { provider: { skywalking: {} }, telemetry: tracing, port: collector.port };
    await withSidecars(sent, async ({ port }) => {
      await asked(port, "/skywalking");
      await until("both segments are there", () => segments.length >= 2);
    });
    const ofServer = segments.find((segment) => segment.includes("server.demo"));
    assert.match(ofServer ?? "", /client\.demo[^]*\/skywalking/);
    assert(segments.some((segment) => !segment.includes("server.demo") && segment.includes("client.demo")));
  },
});

const HEADERS = [{ name: "x-key", envName: "KEY" }, { name: "x-gone", envName: "GONE" }];

for (const provider of [{ zipkin: { headers: HEADERS } }, { opentelemetry: { http: { headers: HEADERS } } }]) {
  Deno.test({
    name: `a header of ${
      Object.keys(provider)
    } has the value of the server's variable as it is; one without a value is not sent`,
    ignore,
    fn: async () => {
      await using receiver = httpReceiver();
      const serverVariable = (name: string) => name === "KEY" ? "50%secret%HOSTNAME%" : undefined;
      const sent = {
        ...{ provider, telemetry: tracing, port: receiver.port },
        ...{ protocol: "HTTP" as const, serverVariable },
      };
      await withSidecars(sent, async ({ port, mesh }) => {
        await asked(port, "/key");
        await until("a span is there", () => receiver.got.some(({ body }) => body.includes("/key")));
        const messages = mesh.server.findings().map(({ message }) => message).join("\n");
        assert.match(messages, /"GONE", expected a variable of the server \(header x-gone/);
        assert.doesNotMatch(messages, /secret/);
      });
      assert.deepEqual([...new Set(receiver.got.map(({ key }) => key))], ["50%secret%HOSTNAME%"]);
    },
  });
}

Deno.test({
  name: "metadata that Envoy cannot send holds no span back; the other metadata is sent unchanged",
  ignore,
  fn: async () => {
    await using collector = await testCollector();
    const names = [["x-key", "a%b"], ["x y", "v"], ["Host", "v"], ["x-key", "a%%b"]];
    const initialMetadata = names.map(([name, value]) => ({ name, value }));
    const provider = { opentelemetry: { grpc: { timeout: "-1s", initialMetadata } } };
    await withSidecars({ provider, telemetry: tracing, port: collector.port }, async ({ port, mesh }) => {
      await asked(port, "/percent");
      await until("a span is there", () => collector.spans.length > 0);
      const found = mesh.server.findings().flatMap(({ message }) => /grpc\.(\S+):/.exec(message)?.[1] ?? []);
      assert.deepEqual(found, ["timeout", "initialMetadata[0]", "initialMetadata[1]", "initialMetadata[2]"]);
    });
    assert.deepEqual([...new Set(collector.keys)], ["a%%b"]);
  },
});

Deno.test({
  name: "a log service gets entries of a connection from both sides",
  ignore,
  fn: async () => {
    await using collector = await testCollector();
    const { envoyLogs } = collector.got;
    const telemetry = { accessLogging: [{ providers: [{ name: "to" }] }] };
    const provider = { envoyTcpAls: { logName: "connections" } };
    await withSidecars({ provider, telemetry, port: collector.port, carried: "TCP" }, async ({ port }) => {
      await asked(port, "/bytes");
      const of = (side: string) => envoyLogs.some((log) => log.includes(side));
      await until("both sides have logged", () => of("outbound|") && of("inbound|"));
    });
    assert.match(envoyLogs[0] ?? "", /connections/);
  },
});
