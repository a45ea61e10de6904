/** The standard metrics of real Envoys beside agents: both sides of a request, on the port of metrics and merged. */
import assert from "node:assert/strict";
import { IdentityMesh } from "../../../scripts/demo/identity_mesh.ts";
import { pairFiles } from "../../../scripts/demo/workloads.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { askWith, headerEcho } from "../../e2e/support/header_echo.ts";
import { envoyPath } from "../../envoy/path.ts";
import { until } from "../../patience.ts";

const telemetry = (metrics: readonly object[]) =>
  JSON.stringify({
    apiVersion: "telemetry.istio.io/v1",
    kind: "Telemetry",
    metadata: { name: "all", namespace: "mesh-system" },
    spec: { metrics },
  });

const PROMETHEUS = { providers: [{ name: "prometheus" }] };

/** A series of a metric. */
interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The series of a metric on a page. */
async function series(port: number, path: string, name: string): Promise<Series[]> {
  const text = await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  assert.doesNotMatch(text, /envoy_istio_/);
  return [...text.matchAll(new RegExp(`^${name}\\{(.*)\\} (\\S+)$`, "gm"))].map(([, labels = "", value]) => ({
    labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, text]) => [key, text])),
    value: Number(value),
  }));
}

const identity = (name: string) => `spiffe://cluster.local/ns/demo/sa/${name}`;

/** Labels known to both sides of a client's request. */
const BOTH = {
  source_workload: "client-v1",
  source_workload_namespace: "demo",
  source_principal: identity("client"),
  source_app: "client",
  source_version: "unknown",
  source_canonical_service: "client",
  source_canonical_revision: "latest",
  source_cluster: "c1",
  destination_workload: "server-v1",
  destination_workload_namespace: "demo",
  destination_principal: identity("server"),
  destination_app: "server",
  destination_version: "unknown",
  destination_canonical_service: "server",
  destination_canonical_revision: "latest",
  destination_cluster: "c1",
  request_protocol: "http",
  response_code: "200",
  grpc_response_status: "",
  response_flags: "-",
  destination_service: "app.test",
  destination_service_name: "app.test",
  destination_service_namespace: "demo",
};

const AT_CLIENT = { ...BOTH, reporter: "source", connection_security_policy: "unknown" };
const AT_SERVER = { ...BOTH, reporter: "destination", connection_security_policy: "mutual_tls" };

Deno.test({
  name:
    "both sides of a request have all standard labels, on the port of metrics and merged; the application sees no header; an edit turns a side off",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(11, async ([port = 0, here = 0, there = 0, ...ports]) => {
      await using app = headerEcho();
      await using mesh = await IdentityMesh.start({
        port,
        files: {
          ...pairFiles({ client: here, server: there, application: app.port, mode: "STRICT" }),
          "telemetry.json": telemetry([PROMETHEUS]),
        },
      });
      try {
        const start = (name: string, own: readonly number[]) =>
          mesh.agent({
            ...{ name, ports: own, proxy: { proxyStatsMatcher: {} } },
            env: { ISTIO_META_WORKLOAD_NAME: `${name}-v1`, ISTIO_META_CLUSTER_ID: "c1" },
          });
        await start("server", ports.slice(0, 4));
        await start("client", ports.slice(4, 8));
        const [serverStatus, serverMetrics, clientStatus, clientMetrics] = [1, 3, 5, 7].map((at) => ports[at]!);
        await until("a request passes both sidecars", async () => (await askWith(here)).status === 200);
        const { got } = await askWith(here, { path: "/seen", headers: { "x-mesh-peer": "forged" } });
        assert.equal(got?.headers["x-mesh-peer"], undefined);
        const requests = "istio_requests_total";
        const good = async (at: number, path = "/stats/prometheus") =>
          (await series(at, path, requests)).filter(({ labels }) => labels["response_code"] === "200");
        for (const at of [serverMetrics!, clientMetrics!, serverStatus!, clientStatus!]) {
          await until("the request is counted", async () => (await good(at)).length > 0);
        }
        for (const [at, expected] of [[clientMetrics!, AT_CLIENT], [serverMetrics!, AT_SERVER]] as const) {
          assert.deepEqual((await good(at)).map(({ labels }) => sorted(labels)), [sorted(expected)]);
        }
        const [merged] = await good(clientStatus!, "/metrics");
        assert.deepEqual(sorted(merged!.labels), sorted(AT_CLIENT));
        assert.equal((await good(serverStatus!)).length, 1);
        for (const histogram of ["request_duration_milliseconds", "request_bytes", "response_bytes"]) {
          const counts = () => series(serverMetrics!, "/stats/prometheus", `istio_${histogram}_count`);
          await until(`${histogram} is measured`, async () => (await counts()).length > 0);
          assert.deepEqual(sorted((await counts())[0]!.labels), sorted(AT_SERVER), histogram);
        }
        const [build] = await series(clientMetrics!, "/stats/prometheus", "istio_build");
        assert.equal(build!.labels["component"], "proxy");
        const off = { match: { mode: "CLIENT" }, disabled: true };
        await mesh.write("telemetry.json", telemetry([{ ...PROMETHEUS, overrides: [off] }]));
        await mesh.live("Telemetry/mesh-system/all");
        const counted = async (at: number) => (await good(at))[0]!.value;
        // Acknowledged configuration reaches Envoy's thread for connections a moment later.
        await until("requests are counted at the server alone", async () => {
          const [ofClient, ofServer] = [await counted(clientMetrics!), await counted(serverMetrics!)];
          for (let i = 0; i < 3; i++) assert.equal((await askWith(here)).status, 200);
          await until("the server counts", async () => await counted(serverMetrics!) >= ofServer + 3);
          return await counted(clientMetrics!) === ofClient;
        });
      } catch (error) {
        throw mesh.failure(error);
      }
    }),
});

function sorted(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(labels).sort(([a], [b]) => a < b ? -1 : 1));
}
