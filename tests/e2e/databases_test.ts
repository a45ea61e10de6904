/** Database protocols, understood by a stock Envoy. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { exchange } from "./support/exchange.ts";
import { envoyPath, testBothModes, TestMesh } from "./support/mesh.ts";
import { MessageConnection } from "./support/messages.ts";
import { mongoLength, mongoServer, opMsg, query, reply } from "./support/mongo.ts";
import { ACCEPTED, GREETING, LOGIN, mysqlLength, mysqlServer, ROWS, SELECT } from "./support/mysql.ts";
import { until } from "../patience.ts";

const path = envoyPath();
const calling = {
  ...{ type: "sidecar", namespace: "demo", address: "127.0.0.1", name: "client" } as const,
  labels: { app: "client" },
};

function world(client: number, upstream: number, protocol = "REDIS", ingress = ""): string {
  return `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: keys, namespace: demo }
spec:
  hosts: [keys.test]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: ${client}, name: keys, protocol: ${protocol} }]
  endpoints: [{ address: 127.0.0.1, ports: { keys: ${upstream} } }]
---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: { name: client, namespace: demo }
spec:
  workloadSelector: { labels: { app: client } }
  egress:
    - { port: { number: ${client}, name: keys, protocol: ${protocol} }, bind: 127.0.0.1, captureMode: NONE, hosts: ["./keys.test"] }
${ingress}`;
}

/** The same with a listener of the workload's own between: bytes pass both sides of a sidecar. */
function bothSides(client: number, server: number, application: number, protocol: string): string {
  const port = `{ number: ${server}, name: own, protocol: ${protocol} }`;
  const ingress = `{ port: ${port}, bind: 127.0.0.1, captureMode: NONE, defaultEndpoint: "127.0.0.1:${application}" }`;
  return `${world(client, server, protocol, `  ingress:\n    - ${ingress}`)}
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: plain, namespace: demo }
spec: { mtls: { mode: DISABLE } }
`;
}

/** Sends each message after the answer to the previous message. Returns the server's answers. */
async function talk(client: MessageConnection, messages: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
  const answers: (Uint8Array | undefined)[] = [];
  for (const message of messages) {
    await client.send(message);
    answers.push(await client.next());
  }
  return answers;
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

testBothModes({
  name: "PILOT_ENABLE_REDIS_FILTER: commands of Redis are answered by the proxy or sent on one by one, and counted",
  ignore: path === undefined,
  fn: (onDemand) =>
    withPorts(1, async ([client = 0]) => {
      using upstream = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      void serve(upstream);
      const files = { "world.yaml": world(client, (upstream.addr as Deno.NetAddr).port) };
      await using mesh = await TestMesh.start({ onDemand, files, settings: { PILOT_ENABLE_REDIS_FILTER: true } });
      const envoy = await mesh.attach(path!, calling, true);
      await envoy.ready(client);
      const answer = (command: string) => exchange(client, command, (text) => text.endsWith("\r\n"));
      assert.equal(await answer("*1\r\n$4\r\nPING\r\n"), "+PONG\r\n", "the proxy's own answer");
      assert.equal(await answer("*2\r\n$3\r\nGET\r\n$1\r\na\r\n"), "+*2 $3 GET $1 a\r\n");
      assert.match(await answer("*1\r\n$5\r\nWRONG\r\n"), /^-ERR/, "no command that Redis has");
      const stats = await envoy.admin("stats?filter=redis.*downstream_rq_total") ?? "";
      assert.match(stats, new RegExp(`redis\\.outbound\\|${client}\\|\\|keys\\.test\\.downstream_rq_total: 3`));
      const clusters = await envoy.admin("config_dump?resource=dynamic_active_clusters") ?? "";
      assert.match(clusters, /"lb_policy": "MAGLEV"/);
      await mesh.settled();
    }),
});

testBothModes({
  name:
    "MongoDB: on both sides operations that Envoy knows are counted; OP_MSG, which it does not know, passes unchanged",
  ignore: path === undefined,
  fn: (onDemand) =>
    withPorts(2, async ([client = 0, server = 0]) => {
      const sent = [
        query(1, "admin.$cmd", { isMaster: 1, helloOk: true }),
        query(2, "shop.items", { name: "one" }),
        opMsg(3, 0, { hello: 1, $db: "admin" }),
        opMsg(4, 0, { find: "items", $db: "shop" }),
      ];
      const answers = [
        reply(11, 1, { helloOk: true, ok: 1 }),
        reply(12, 2, { name: "one" }),
        opMsg(13, 3, { ok: 1 }),
        opMsg(14, 4, { firstBatch: "one", ok: 1 }),
      ];
      const received: Uint8Array[] = [];
      using database = mongoServer(answers, received);
      const files = { "world.yaml": bothSides(client, server, database.port, "MONGO") };
      await using mesh = await TestMesh.start({ onDemand, files });
      const envoy = await mesh.attach(path!, calling, true);
      await envoy.ready(client);
      await envoy.ready(server);
      using driver = await MessageConnection.dial(client, mongoLength);
      assert.deepEqual(await talk(driver, sent), answers);
      assert.deepEqual(received, sent);
      for (const side of [`outbound\\|${client}\\|\\|keys\\.test`, `inbound\\|${server}\\|\\|`]) {
        const stats = await envoy.admin(`stats?filter=${encodeURIComponent(`^mongo\\.${side}\\.`)}`) ?? "";
        const count = (name: string) => Number(stats.match(new RegExp(`\\.${name}: (\\d+)$`, "m"))?.[1]);
        const names = ["op_query", "op_reply", "cmd\\.unknown_command\\.total", "collection\\.items\\.query\\.total"];
        assert.deepEqual(names.map(count), [2, 2, 1, 1], stats);
        // Envoy stops decoding a connection at the first OP_MSG.
        assert.equal(count("decoding_error"), 1, stats);
      }
      await mesh.settled();
    }),
});

testBothModes({
  name:
    "PILOT_ENABLE_MYSQL_FILTER: an Envoy without that filter carries a login and a query unchanged, the server first",
  ignore: path === undefined,
  fn: (onDemand) =>
    withPorts(2, async ([client = 0, server = 0]) => {
      const received: Uint8Array[] = [];
      using database = mysqlServer(received);
      const files = { "world.yaml": bothSides(client, server, database.port, "MYSQL") };
      await using mesh = await TestMesh.start({ onDemand, files, settings: { PILOT_ENABLE_MYSQL_FILTER: true } });
      const envoy = await mesh.attach(path!, calling, true);
      await envoy.ready(client);
      await envoy.ready(server);
      using driver = await MessageConnection.dial(client, mysqlLength);
      assert.deepEqual(await driver.next(), GREETING, "before a byte of the client");
      assert.deepEqual(await talk(driver, [LOGIN, SELECT]), [ACCEPTED, ROWS[0]]);
      for (const row of ROWS.slice(1)) assert.deepEqual(await driver.next(), row);
      assert.deepEqual(received, [LOGIN, SELECT]);
      await until("both listeners count the bytes", async () => {
        const stats = await envoy.admin("stats?filter=^tcp.*downstream_cx_rx_bytes_total") ?? "";
        return stats.split(`: ${LOGIN.length + SELECT.length}`).length === 3;
      });
      assert.equal(await envoy.admin("stats?filter=mysql"), "", "nothing decodes MySQL in a stock Envoy");
      await mesh.settled();
    }),
});
