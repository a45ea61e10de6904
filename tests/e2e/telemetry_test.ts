/** Telemetry on real Envoys: which requests reach a log file, a log service and OpenTelemetry collectors. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { testCollector } from "./support/collector.ts";
import { askWith, headerEcho } from "./support/header_echo.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";
import { until } from "../patience.ts";

const path = envoyPath();
const ignore = path === undefined;

const server = {
  type: "sidecar",
  name: "server",
  namespace: "demo",
  address: "127.0.0.1",
  labels: { app: "server" },
} as const;

/** @param reports port of the collector's service */
function world(port: number, application: number, collector: number, reports: number): string {
  return `
apiVersion: networking.mesh.io/v1
kind: Sidecar
metadata: { name: server, namespace: demo }
spec:
  workloadSelector: { labels: { app: server } }
  ingress:
  - { port: { number: ${port}, protocol: HTTP, name: http }, defaultEndpoint: "127.0.0.1:${application}", bind: 127.0.0.1, captureMode: NONE }
---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: collector, namespace: demo }
spec:
  hosts: [collector.test]
  location: MESH_EXTERNAL
  resolution: STATIC
  ports: [{ number: ${reports}, name: grpc, protocol: GRPC, targetPort: ${collector} }]
  endpoints: [{ address: 127.0.0.1 }]
`;
}

function telemetry(name: string, spec: object): string {
  const object = {
    apiVersion: "telemetry.istio.io/v1",
    kind: "Telemetry",
    metadata: { name, namespace: "demo" },
    spec,
  };
  return `---\n${JSON.stringify(object)}\n`;
}

const collectorAt = (port: number) => ({ service: "demo/collector.test", port });

/** An acknowledged listener reaches the worker threads a moment later, at the latest after some requests. */
async function threadsHaveIt(port: number): Promise<void> {
  for (let i = 0; i < 3; i++) await askWith(port, { path: "/early" });
}

Deno.test({
  name:
    "a request is logged in a file, over gRPC and to OpenTelemetry; a filter keeps others out; an edit turns all off",
  ignore,
  fn: () =>
    withPorts(2, async ([port = 0, reports = 0]) => {
      await using app = headerEcho();
      await using collector = await testCollector();
      const folder = await Deno.makeTempDir({ prefix: "mesh-logs-" });
      const file = `${folder}/access.log`;
      const providers = [{ name: "file" }, { name: "als" }, { name: "otel" }];
      const accessLogging = { providers, filter: { expression: 'request.headers["x-log"] == "yes"' } };
      try {
        await using mesh = await TestMesh.start({
          files: {
            "world.yaml": world(port, app.port, collector.port, reports),
            "telemetry.yaml": telemetry("logs", { accessLogging: [accessLogging] }),
          },
          meshConfig: {
            extensionProviders: [
              { name: "file", envoyFileAccessLog: { path: file, logFormat: { labels: { p: "%REQ(:PATH)%" } } } },
              { name: "als", envoyHttpAls: { ...collectorAt(reports), additionalRequestHeadersToLog: ["x-user"] } },
              {
                name: "otel",
                proxyOtelAls: { ...collectorAt(reports), logFormat: { labels: { p: "otel:%REQ(:PATH)%" } } },
              },
            ],
          },
        });
        const envoy = await mesh.attach(path!, server, true);
        await envoy.ready(port);
        const ask = async (what: string, log: string) => {
          const { status } = await askWith(port, { path: what, headers: { "x-log": log, "x-user": "ann" } });
          assert.equal(status, 200);
        };
        await ask("/hidden", "no");
        await ask("/shown", "yes");
        const lines = async () => (await Deno.readTextFile(file)).split("\n").filter((line) => line !== "");
        const { envoyLogs, logs } = collector.got;
        await until("the log service has the request", () => envoyLogs.join().includes("/shown"));
        await until("OpenTelemetry has it", () => logs.join().includes("otel:/shown"));
        await until("the file has it", async () => (await lines()).length > 0);
        assert.deepEqual((await lines()).map((line) => JSON.parse(line)), [{ p: "/shown" }]);
        assert.match(envoyLogs.join(), /http_envoy_accesslog[^]*x-user[^]*ann/);
        assert.doesNotMatch(envoyLogs.join() + logs.join(), /\/hidden/);
        await mesh.settled();
        const page = await mesh.page<{ total: number; everywhere: boolean; why: string[] }>(
          "live?object=Telemetry/demo/logs&wait=90s",
        );
        assert.deepEqual([page.total, page.everywhere, page.why], [1, true, []]);
        const edited = async (logging: object) => {
          await mesh.write("telemetry.yaml", telemetry("logs", { accessLogging: [logging] }));
          await mesh.page("live?object=Telemetry/demo/logs&wait=90s");
          await threadsHaveIt(port);
        };
        await edited({ providers, disabled: true });
        await ask("/off", "yes");
        await edited({ providers: [{ name: "als" }] });
        await ask("/end", "yes");
        await until("the last request is logged", () => envoyLogs.join().includes("/end"));
        assert.doesNotMatch(envoyLogs.join(), /\/off/);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    }),
});

Deno.test({
  name:
    "a request makes a span with the mesh's tags and a user's; without sampling, and where it is disabled, there is none",
  ignore,
  fn: () =>
    withPorts(2, async ([port = 0, reports = 0]) => {
      await using app = headerEcho();
      await using collector = await testCollector();
      const tracing = (more: object) =>
        telemetry("spans", { tracing: [{ providers: [{ name: "otel" }], randomSamplingPercentage: 100, ...more }] });
      const customTags = {
        user: { header: { name: "x-user" } },
        verb: { formatter: { value: "verb-%REQ(:METHOD)%" } },
      };
      await using mesh = await TestMesh.start({
        files: {
          "world.yaml": world(port, app.port, collector.port, reports),
          "telemetry.yaml": tracing({ customTags }),
        },
        meshConfig: { extensionProviders: [{ name: "otel", opentelemetry: collectorAt(reports) }] },
      });
      const labels = { app: "server", "service.istio.io/canonical-name": "canon" };
      const envoy = await mesh.attach(path!, { ...server, labels }, true);
      await envoy.ready(port);
      const { spans } = collector.got;
      const ask = async (what: string) => {
        assert.equal((await askWith(port, { path: what, headers: { "x-user": "ann" } })).status, 200);
      };
      await ask("/traced");
      await until("the span is there", () => spans.join().includes("/traced"));
      assert.match(spans.join(), /istio\.canonical_service[^]{0,8}canon/);
      assert.match(spans.join(), /istio\.namespace[^]{0,8}demo/);
      assert.match(spans.join(), /istio\.mesh_id[^]{0,8}unknown/);
      assert.match(spans.join(), /user[^]{0,8}ann/);
      assert.match(spans.join(), /verb[^]{0,8}verb-GET/);
      await mesh.settled();
      const edited = async (more: object) => {
        await mesh.write("telemetry.yaml", tracing(more));
        await mesh.page("live?object=Telemetry/demo/spans&wait=90s");
        await threadsHaveIt(port);
      };
      await edited({ randomSamplingPercentage: 0 });
      await ask("/unsampled");
      await edited({ disableSpanReporting: true });
      await ask("/disabled");
      await edited({ match: { mode: "CLIENT" } });
      await ask("/other-side");
      await edited({ enableIstioTags: false });
      await ask("/last");
      await until("the last span is there", () => spans.join().includes("/last"));
      assert.doesNotMatch(spans.join(), /unsampled|disabled|other-side/);
      assert.doesNotMatch(spans.at(-1) ?? "", /istio\.namespace/);
    }),
});

/** Paths of reports over HTTP, each with its `x-key` header, and the bodies as text. */
function httpCollector() {
  const got: { readonly at: string; readonly body: string }[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname, host } = new URL(request.url);
    const body = new TextDecoder().decode(await request.arrayBuffer());
    got.push({ at: `${request.headers.get("host") ?? host}${pathname} ${request.headers.get("x-key")}`, body });
    return new Response("{}");
  });
  return { port: server.addr.port, got, [Symbol.asyncDispose]: () => server.shutdown() };
}

const OVER_HTTP = {
  zipkin: {
    kind: "zipkin",
    settings: { headers: [{ name: "x-key", value: "k" }] },
    at: "collector.test/api/v2/spans k",
  },
  OpenTelemetry: {
    kind: "opentelemetry",
    settings: { http: { path: "/v1/traces", headers: [{ name: "x-key", value: "k" }] } },
    at: "collector.test/v1/traces k",
  },
};

for (const [name, { kind, settings, at }] of Object.entries(OVER_HTTP)) {
  Deno.test({
    name: `spans of ${name} go over HTTP to the path of the provider, with its headers`,
    ignore,
    fn: () =>
      withPorts(2, async ([port = 0, reports = 0]) => {
        await using app = headerEcho();
        await using collector = httpCollector();
        const asked = { tracing: [{ providers: [{ name: "spans" }], randomSamplingPercentage: 100 }] };
        await using mesh = await TestMesh.start({
          files: {
            "world.yaml": world(port, app.port, collector.port, reports).replace(
              "name: grpc, protocol: GRPC",
              "name: http, protocol: HTTP",
            ),
            "telemetry.yaml": telemetry("spans", asked),
          },
          meshConfig: { extensionProviders: [{ name: "spans", [kind]: { ...collectorAt(reports), ...settings } }] },
        });
        const envoy = await mesh.attach(path!, server, true);
        await envoy.ready(port);
        assert.equal((await askWith(port, { path: "/over-http" })).status, 200);
        await until("the span is there", () => collector.got.some(({ body }) => body.includes("/over-http")));
        assert.equal(collector.got[0]?.at, at);
      }),
  });
}
