/** What a pod called is there before the first request of the next pod, also after a restart of the server: real Envoys. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { pilotDiscovery } from "../cmd/offline.ts";
import { until } from "../patience.ts";
import { application, ask, CLIENT, entry, heldClusters, heldHosts } from "./support/asking.ts";
import { envoyPath, type TestEnvoy, TestMesh } from "./support/mesh.ts";

const path = envoyPath();

/** A pod of the workload; the name of the pod differs from pod to pod. */
function pod(name: string, workload = "client") {
  return { ...CLIENT, name, metadata: { ...CLIENT.metadata, WORKLOAD_NAME: workload } };
}

async function firstLine(port: number): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const bytes = new Uint8Array(64);
  const count = await connection.read(bytes);
  return count === null ? "closed" : new TextDecoder().decode(bytes.subarray(0, count));
}

/** The page of a proxy, which lists the hosts for which the Envoy has asked. */
async function pageOf(mesh: TestMesh, name: string): Promise<string> {
  const url = `http://127.0.0.1:${mesh.server.ports.http}/debug/config_dump?proxyID=${name}.demo`;
  return await (await fetch(url, { headers: { accept: "text/html" } })).text();
}

Deno.test({
  name:
    "a rollout: no pod asks for what the first pod called, before and after a restart of the server; another workload does",
  ignore: path === undefined,
  fn: () =>
    withPorts(2, async ([port = 0, tcp = 0]) => {
      await using app = application("app");
      const server = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const answered = (async () => {
        for await (const connection of server) {
          await connection.write(new TextEncoder().encode("hello"));
          connection.close();
        }
      })();
      const calls = await Deno.makeTempDir({ prefix: "calls-" });
      const hosts = ["one.test", "two.test", "three.test"].map((host) => entry({ host, port, targetPort: app.port }));
      const raw = entry({ host: "raw.test", port: tcp, targetPort: (server.addr as Deno.NetAddr).port })
        .replace('"HTTP"', '"TCP"').replace('"http"', '"tcp"');
      const files = { "world.yaml": [...hosts, raw].join("\n---\n") };
      const start = () => TestMesh.start({ files, settings: { MESH_CALLS_DIR: calls } });
      const call = async () => {
        assert.deepEqual([await ask(port, "one.test"), await ask(port, "two.test"), await firstLine(tcp)], [
          ...["app", "app", "hello"],
        ]);
      };
      /** A pod that has its configuration before its first request. */
      const handed = async (mesh: TestMesh, name: string) => {
        const envoy: TestEnvoy = await mesh.attach(path!, pod(name), true);
        await envoy.ready(port);
        assert.deepEqual(await heldClusters(envoy), ["one.test", "raw.test", "two.test"]);
        await until("the virtual hosts", async () => {
          return (await heldHosts(envoy)).join() === "not-asked-yet.invalid,one.test,two.test";
        });
        await call();
        const html = await pageOf(mesh, name);
        assert.match(html, /Called hosts.*none yet/s, "nothing was asked");
        assert.match(html, /Called by the workload before.*outbound.*raw\.test/s);
        assert.deepEqual(await envoy.rejected(), []);
        await envoy.stop();
      };
      try {
        {
          await using mesh = await start();
          const first = await mesh.attach(path!, pod("client-1"), true);
          await first.ready(port);
          assert.deepEqual(await heldClusters(first), []);
          await call();
          assert.match(await pageOf(mesh, "client-1"), /Called hosts.*one\.test/s);
          await first.stop();
          await handed(mesh, "client-2");
        }
        await using mesh = await start();
        await handed(mesh, "client-3");
        await handed(mesh, "client-4");
        const client = await mesh.attach(path!, pod("client-5"), true);
        await client.ready(port);
        const server = `--server=127.0.0.1:${mesh.server.ports.http}`;
        const printed = await pilotDiscovery(["scope", "demo/client", server]);
        assert.equal(printed.code, 0, printed.err);
        assert.match(printed.out, /# Leaves out 1 of 4 services: 1 of demo\.\n/);
        const hosts = ["one", "raw", "two"].map((name) => `        - demo/${name}.test\n`).join("");
        assert.ok(printed.out.includes(`workloadSelector:\n    labels:\n      app: client\n`), printed.out);
        assert.ok(printed.out.endsWith(`egress:\n    - hosts:\n${hosts}`), printed.out);
        const savings = await mesh.page<readonly { namespace: string; asking: number }[]>("savings");
        assert.deepEqual(savings.map(({ namespace, asking }) => [namespace, asking]), [["demo", 1]]);
        await client.stop();
        const unknown = await pilotDiscovery(["scope", "demo/nobody", server]);
        assert.deepEqual([unknown.code, unknown.out], [2, ""]);
        assert.match(unknown.err, /no sidecar of workload demo\/nobody is connected/);
        const other = await mesh.attach(path!, pod("other-1", "other"), true);
        await other.ready(port);
        assert.deepEqual(await heldClusters(other), []);
      } finally {
        server.close();
        await answered;
        await Deno.remove(calls, { recursive: true });
      }
    }),
});
