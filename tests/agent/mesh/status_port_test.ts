/** The status port of a real agent beside a real Envoy: readiness, merged metrics, probes, profiles. */
import assert from "node:assert/strict";
import { withPorts } from "../../../scripts/ports.ts";
import { envoyPath } from "../../envoy/path.ts";
import { AgentProcess } from "../../../scripts/demo/agent.ts";
import { envoyCount, IdentityMesh } from "../../../scripts/demo/identity_mesh.ts";
import { serviceFile } from "../../../scripts/demo/workloads.ts";
import { until } from "../../patience.ts";

const OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/** An application with a page of metrics and a page of its health. */
function instrumented() {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/well") return new Response(request.headers.get("user-agent"), { status: 202 });
    const body = "# TYPE app counter\napp_total 7\n# EOF\n";
    return new Response(body, { headers: { "content-type": OPEN_METRICS } });
  });
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}

async function page(port: number, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
}

Deno.test({
  name:
    "an agent beside a real Envoy is ready, merges three sources of metrics, probes the application, and makes profiles",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(6, async ([port = 0, own = 0, ...ports]) => {
      await using app = instrumented();
      const files = { "service.yaml": serviceFile(own, [{ port: app.port }]) };
      await using mesh = await IdentityMesh.start({ port, files });
      const [admin = 0, status = 0, readiness = 0] = ports;
      try {
        await mesh.agent({
          ...{ name: "cart", ports, args: ["--profiling"] },
          env: {
            ISTIO_PROMETHEUS_ANNOTATIONS: JSON.stringify({ scrape: "true", path: "/m", port: String(app.port) }),
            ISTIO_KUBE_APP_PROBERS: JSON.stringify({
              "/app-health/cart/livez": { httpGet: { path: "/well", port: app.port } },
              "/app-health/cart/readyz": { tcpSocket: { port: admin } },
              "/app-lifecycle/cart/prestopz": { httpGet: { path: "/well", port: app.port } },
            }),
            MESH_AGENT_METRIC_PREFIX: "istio_agent_",
          },
        });
        await until("it is ready", async () => {
          const answer = await page(readiness, "/healthz/ready").catch(() => undefined);
          return answer?.status === 200;
        });
        // The workload's mode of interception is NONE: each listener has its own socket.
        // A connection is made by the kernel, and counted when Envoy takes it.
        await until("the service's listener was asked for a connection", async () =>
          await envoyCount(admin, `^listener\\..*_${own}\\.downstream_cx_total$`) > 0);
        for (const path of ["/stats/prometheus", "/metrics"]) {
          const { type, text } = await page(status, path, { accept: "application/openmetrics-text" });
          assert.equal(type, OPEN_METRICS);
          assert.match(text, /\nistio_agent_xds_proxy_requests \d/);
          assert.match(text, /\nenvoy_cluster_manager_cds_update_success\{?.*\}? [1-9]/);
          assert.match(text, /\napp_total 7\n# EOF\n$/);
          assert.doesNotMatch(text, /\n\n/);
        }
        const filtered = (await page(status, "/metrics?filter=%5Eserver.state%24")).text;
        assert.match(filtered, /\nenvoy_server_state\{\} 0\n/);
        assert.doesNotMatch(filtered, /envoy_cluster/);
        const probe = await page(status, "/app-health/cart/livez", { "user-agent": "kube-probe/1.30" });
        assert.deepEqual([probe.status, probe.text], [202, "kube-probe/1.30"]);
        assert.equal((await page(status, "/app-health/cart/readyz")).status, 200);
        assert.equal((await page(status, "/app-lifecycle/cart/prestopz")).status, 202);
        assert.equal((await page(status, "/app-health/cart/startupz")).status, 400);
        await profiles(status);
      } catch (error) {
        throw mesh.failure(error);
      }
    }),
});

async function profiles(status: number): Promise<void> {
  const profile = () => page(status, "/debug/pprof/profile?seconds=0.5&form=v8");
  const caller = new AbortController();
  const long = fetch(`http://127.0.0.1:${status}/debug/pprof/profile?seconds=300`, { signal: caller.signal });
  await until("one profile is made at a time", async () => (await profile()).status === 409);
  caller.abort();
  await assert.rejects(long);
  let made = await profile();
  await until("a profile is made", async () => made.status === 200 || (made = await profile()).status === 200);
  const cpu = JSON.parse(made.text);
  assert.ok(cpu.nodes.length > 0 && cpu.endTime > cpu.startTime);
  const allocs = JSON.parse((await page(status, "/debug/pprof/allocs?seconds=0.1&form=v8")).text);
  assert.ok(allocs.head.callFrame !== undefined);
  const heap = JSON.parse((await page(status, "/debug/pprof/heap")).text);
  assert.ok(heap.snapshot.node_count > 1000);
  assert.match((await page(status, "/debug/pprof/")).text, /profile\?seconds=30/);
  assert.equal((await page(status, "/debug/pprof/goroutine")).status, 501);
  for (const seconds of ["0", "-1", "x", "1e9"]) {
    assert.equal((await page(status, `/debug/pprof/profile?seconds=${seconds}`)).status, 400, seconds);
  }
}

Deno.test("an agent without profiles has no pages of profiles; without an Envoy its own metrics are served", () =>
  withPorts(1, async ([status = 0]) => {
    await using agent = await AgentProcess.start({
      args: ["router"],
      env: {
        ...{ POD_NAME: "a", POD_NAMESPACE: "b", INSTANCE_IP: "127.0.0.1", DISABLE_ENVOY: "true" },
        PROXY_CONFIG: JSON.stringify({ statusPort: status }),
        // The agent scrapes nothing for a gateway, because the gateway's port is open to others.
        ISTIO_PROMETHEUS_ANNOTATIONS: JSON.stringify({ port: "1" }),
      },
    });
    await until("it serves", async () => (await page(status, "/metrics").catch(() => undefined))?.status === 200);
    const { text } = await page(status, "/metrics");
    assert.match(text, /^scrapes_total [1-9]/m);
    assert.doesNotMatch(text, /envoy_|scrape_failures_total\{/, agent.output);
    assert.equal((await page(status, "/debug/pprof/")).status, 404);
  }));

Deno.test("mistakes in probes, metrics and their names end the start of an agent, and all are reported at once", async () => {
  await using agent = await AgentProcess.start({
    env: {
      ...{ POD_NAME: "a", POD_NAMESPACE: "b", INSTANCE_IP: "127.0.0.1", CA_PROVIDER: "Vault" },
      MESH_ORCH_APP_PROBERS: '{"/app-health/a/livez":{},"/x":{"tcpSocket":{"port":1}}}',
      MESH_METRICS_ANNOTATIONS: '{"port":"15020"}',
      MESH_AGENT_METRIC_PREFIX: "1-",
    },
  });
  assert.equal(await agent.ended, 1);
  for (
    const line of [
      /MESH_ORCH_APP_PROBERS: \["\/app-health\/a\/livez"\]: got an object, expected exactly one of/,
      /MESH_ORCH_APP_PROBERS: .*got "\/x", expected \/app-health\/CONTAINER/,
      /MESH_METRICS_ANNOTATIONS: port: got 15020, expected another port than that of the agent/,
      /MESH_AGENT_METRIC_PREFIX: got "1-", expected/,
      /CA_PROVIDER: got "Vault"/,
    ]
  ) assert.match(agent.output, line);
});
