/** A sidecar that asks while the server is away, and while what it asked for goes: real Envoys. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { until } from "../patience.ts";
import { answerOf, application, ask, CLIENT, entry, heldClusters } from "./support/asking.ts";
import { envoyPath, type TestEnvoy, TestMesh } from "./support/mesh.ts";

const path = envoyPath();

/** The way of Envoys to a server, which the test cuts and opens. */
class Way {
  readonly #target: number;
  readonly #port: number;
  #listener: Deno.TcpListener | undefined;
  readonly #open = new Set<Deno.TcpConn>();

  constructor(target: number) {
    this.#target = target;
    const listener = this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.#port = (listener.addr as Deno.NetAddr).port;
    void this.#serve(listener);
  }

  get port(): number {
    return this.#port;
  }

  async #serve(listener: Deno.TcpListener): Promise<void> {
    for await (const client of listener) {
      const server = await Deno.connect({ hostname: "127.0.0.1", port: this.#target });
      for (const one of [client, server]) this.#open.add(one);
      const ends = [client.readable.pipeTo(server.writable), server.readable.pipeTo(client.writable)];
      void Promise.allSettled(ends);
    }
  }

  cut(): void {
    this.#listener?.close();
    this.#listener = undefined;
    for (const one of this.#open) {
      try {
        one.close();
      } catch { /* the other end was first */ }
    }
    this.#open.clear();
  }

  open(): void {
    const listener = this.#listener = Deno.listen({ hostname: "127.0.0.1", port: this.#port });
    void this.#serve(listener);
  }
}

/** An application whose answer takes longer than a sidecar waits for the server. */
function slow(ms: number) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        for (let part = 0; part < 5; part++) {
          controller.enqueue(new TextEncoder().encode(`part ${part} `));
          await new Promise((resolve) => setTimeout(resolve, ms / 5));
        }
        controller.close();
      },
    });
    return new Response(body);
  });
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** How long a sidecar waits for the server, ms: much longer than a server of a busy machine takes for an answer. */
const LIMIT = 4000;

const WHOLE = "part 0 part 1 part 2 part 3 part 4 ";

Deno.test({
  name:
    "without a server a sidecar goes on with what it has, other calls fail soon with a flag of their own, and work again later",
  ignore: path === undefined,
  fn: () =>
    withPorts(2, async ([port = 0, tcp = 0]) => {
      await using app = application("app");
      await using long = slow(1.25 * LIMIT);
      const hosts = ["one.test", "two.test", "three.test"].map((host) => entry({ host, port, targetPort: app.port }));
      const stream = entry({ host: "long.test", port, targetPort: long.port });
      const raw = entry({ host: "raw.test", port: tcp, targetPort: app.port }).replace('"HTTP"', '"TCP"')
        .replace('"http"', '"tcp"');
      await using mesh = await TestMesh.start({
        files: { "world.yaml": [...hosts, stream, raw].join("\n---\n") },
        settings: { MESH_ON_DEMAND_TIMEOUT: LIMIT },
        meshConfig: { accessLogFile: "/dev/stdout", outboundTrafficPolicy: { mode: "REGISTRY_ONLY" } },
      });
      const way = new Way(mesh.server.ports.grpc!);
      try {
        const envoy: TestEnvoy = await mesh.attach(path!, CLIENT, true, { discoveryPort: way.port });
        await envoy.ready(port);
        assert.equal(await ask(port, "one.test"), "app");
        assert.equal(await ask(port, "long.test"), WHOLE, "a known route has no limit, even on the first request");
        way.cut();
        assert.equal(await ask(port, "one.test"), "app");
        const [later, lost, withBody] = await Promise.all([
          ask(port, "long.test"),
          answerOf(port, "two.test"),
          answerOf(port, "three.test", "with a body"),
        ]);
        assert.equal(later, WHOLE, "nor has a later request");
        assert.deepEqual([lost.status, lost.text], [
          503,
          `no configuration for this host within ${LIMIT} ms: the control plane does not answer`,
        ]);
        assert.equal(withBody.status, 503);
        const reached = await envoy.admin("stats?filter=downstream_rq_max_duration_reached");
        assert.match(reached ?? "", /outbound.*: 2\b/);
        using connection = await Deno.connect({ hostname: "127.0.0.1", port: tcp });
        await connection.write(new TextEncoder().encode("GET / HTTP/1.1\r\n\r\n"));
        const end = await connection.read(new Uint8Array(10)).catch((error: Error) => error.name);
        assert.ok(end === null || end === "ConnectionReset", `the connection ends without an answer: ${end}`);
        way.open();
        await until("the server is back", async () => await ask(port, "two.test") === "app");
        assert.equal(await ask(port, "three.test"), "app");
        await until("the cluster of the port", async () => (await heldClusters(envoy)).includes("raw.test"));
        assert.deepEqual(await envoy.rejected(), []);
      } finally {
        way.cut();
      }
    }),
});

Deno.test({
  name:
    "a request that runs while its host is removed ends with its whole answer, and the next is answered as to an unknown host",
  ignore: path === undefined,
  fn: () =>
    withPorts(1, async ([port = 0]) => {
      await using long = slow(2000);
      await using app = application("app");
      await using mesh = await TestMesh.start({
        files: {
          "long.yaml": entry({ host: "long.test", port, targetPort: long.port }),
          "app.yaml": entry({ host: "app.test", port, targetPort: app.port }),
        },
        meshConfig: { outboundTrafficPolicy: { mode: "REGISTRY_ONLY" } },
      });
      const envoy = await mesh.attach(path!, CLIENT, true);
      await envoy.ready(port);
      assert.equal(await ask(port, "app.test"), "app");
      const first = Promise.withResolvers<void>();
      const running = answerOf(port, "long.test", "", first.resolve);
      await first.promise;
      assert.deepEqual(await heldClusters(envoy), ["app.test", "long.test"]);
      await mesh.write("long.yaml");
      await until("the end of the cluster", async () => (await heldClusters(envoy)).join() === "app.test");
      assert.equal((await running).text, WHOLE);
      assert.equal(await ask(port, "long.test"), "502");
      await mesh.write("long.yaml", entry({ host: "long.test", port, targetPort: app.port }));
      await until("the host is back", async () => await ask(port, "long.test") === "app");
      assert.deepEqual(await envoy.rejected(), []);
    }),
});
