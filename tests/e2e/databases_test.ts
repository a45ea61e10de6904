/** What databases speak, understood by a stock Envoy. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { exchange } from "./support/exchange.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";

const path = envoyPath();

function world(client: number, upstream: number): string {
  return `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: keys, namespace: demo }
spec:
  hosts: [keys.test]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: ${client}, name: keys, protocol: REDIS }]
  endpoints: [{ address: 127.0.0.1, ports: { keys: ${upstream} } }]
---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: { name: client, namespace: demo }
spec:
  workloadSelector: { labels: { app: client } }
  egress:
    - { port: { number: ${client}, name: keys, protocol: REDIS }, bind: 127.0.0.1, captureMode: NONE, hosts: ["./keys.test"] }
`;
}

/** A store that answers each command with the command itself, until a client closes. */
async function serve(listener: Deno.Listener): Promise<void> {
  for await (const connection of listener) {
    void (async () => {
      const bytes = new Uint8Array(1000);
      for (let length = await connection.read(bytes); length !== null; length = await connection.read(bytes)) {
        const command = new TextDecoder().decode(bytes.subarray(0, length)).replaceAll("\r\n", " ").trim();
        await connection.write(new TextEncoder().encode(`+${command}\r\n`));
      }
      connection.close();
    })().catch(() => {});
  }
}

Deno.test({
  name: "PILOT_ENABLE_REDIS_FILTER: commands of Redis are answered by the proxy or sent on one by one, and counted",
  ignore: path === undefined,
  fn: () =>
    withPorts(1, async ([client = 0]) => {
      using upstream = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      void serve(upstream);
      const files = { "world.yaml": world(client, (upstream.addr as Deno.NetAddr).port) };
      await using mesh = await TestMesh.start({ files, settings: { PILOT_ENABLE_REDIS_FILTER: true } });
      const identity = { type: "sidecar", namespace: "demo", address: "127.0.0.1", name: "client" } as const;
      const calling = await mesh.attach(path!, { ...identity, labels: { app: "client" } }, true);
      await calling.ready(client);
      const answer = (command: string) => exchange(client, command, (text) => text.endsWith("\r\n"));
      assert.equal(await answer("*1\r\n$4\r\nPING\r\n"), "+PONG\r\n", "the proxy's own answer");
      assert.equal(await answer("*2\r\n$3\r\nGET\r\n$1\r\na\r\n"), "+*2 $3 GET $1 a\r\n");
      assert.match(await answer("*1\r\n$5\r\nWRONG\r\n"), /^-ERR/, "no command that Redis has");
      const stats = await calling.admin("stats?filter=redis.*downstream_rq_total") ?? "";
      assert.match(stats, new RegExp(`redis\\.outbound\\|${client}\\|\\|keys\\.test\\.downstream_rq_total: 3`));
      const clusters = await calling.admin("config_dump?resource=dynamic_active_clusters") ?? "";
      assert.match(clusters, /"lb_policy": "MAGLEV"/);
      await mesh.settled();
    }),
});
