/** `/debug/force_disconnect` and a real Envoy: the Envoy reconnects without any change of its resources. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { envoyPath, type TestEnvoy, TestMesh } from "./support/mesh.ts";
import { until } from "../patience.ts";

const path = envoyPath();
const first = new URL("../../examples/first-steps/mesh/", import.meta.url);
const files = Object.fromEntries([...Deno.readDirSync(first)].map(({ name }) => [
  name,
  Deno.readTextFileSync(new URL(name, first)),
]));

/** All of Envoy's discovered resources, with the times of their acceptance, except secrets and endpoints. */
async function taken(envoy: TestEnvoy): Promise<unknown> {
  const { configs } = JSON.parse((await envoy.admin("config_dump"))!);
  const lists = ["dynamic_active_clusters", "dynamic_listeners", "dynamic_route_configs"];
  return lists.map((name) => configs.flatMap((config: Record<string, unknown>) => config[name] ?? []));
}

for (const delta of [true, false]) {
  Deno.test({
    name: `${delta ? "delta" : "state of the world"}: a proxy that is sent away comes again and takes nothing anew`,
    ignore: path === undefined,
    fn: () =>
      withPorts(2, async ([proxyListenPort, proxyInboundListenPort]) => {
        await using mesh = await TestMesh.start({
          files,
          meshConfig: { proxyListenPort, proxyInboundListenPort },
          settings: { UNSAFE_ENABLE_ADMIN_ENDPOINTS: true },
        });
        const identity = { type: "sidecar", name: "one", namespace: "demo", address: "127.0.0.1", labels: {} } as const;
        const envoy = await mesh.attach(path!, identity, delta, { interceptionMode: "REDIRECT" });
        await mesh.settled();
        const streams = async () => {
          const { clients } = await mesh.page<{ clients: { connectionId: string }[] }>("connections");
          return clients.map(({ connectionId }) => connectionId);
        };
        const [before, had] = [await streams(), await taken(envoy)];
        const url = `http://127.0.0.1:${mesh.server.ports.http}/debug/force_disconnect?proxyID=one.demo`;
        const answer = await fetch(url, { method: "POST" });
        assert.deepEqual([answer.status, await answer.text()], [200, "OK\n"]);
        await until("another stream of the proxy", async () => {
          const now = await streams();
          return now.length === 1 && now[0] !== before[0];
        });
        await mesh.settled();
        assert.deepEqual(await taken(envoy), had);
      }),
  });
}
