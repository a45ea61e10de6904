/** A ReferenceGrant is revoked while a real Envoy carries requests to the granted service. */
import assert from "node:assert/strict";
import { Agent, get } from "node:http";
import { withPorts } from "../../scripts/ports.ts";
import { api, backendService, document, httpRoute, ruleTo } from "../gateway_api/folder_world.ts";
import { until } from "../patience.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";

const path = envoyPath();

/** Clients that send at the same time. */
const CLIENTS = 8;

const EDGE = {
  type: "router",
  name: "edge",
  namespace: "shop",
  address: "127.0.0.1",
  labels: { "gateway.networking.k8s.io/gateway-name": "edge" },
} as const;

const GRANT = document({
  apiVersion: "gateway.networking.k8s.io/v1beta1",
  kind: "ReferenceGrant",
  metadata: { name: "shop", namespace: "bank" },
  spec: {
    from: [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", namespace: "shop" }],
    to: [{ group: "", kind: "Service" }],
  },
});

/** A backend that counts requests. The path `/slow` is answered in two parts: the second part follows `release()`. */
function backend() {
  let count = 0;
  const released = Promise.withResolvers<void>();
  const encoder = new TextEncoder();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, ({ url }) => {
    count++;
    if (!url.endsWith("/slow")) return new Response("whole");
    return new Response(
      new ReadableStream({
        async start(controller) {
          controller.enqueue(encoder.encode("first "));
          await released.promise;
          controller.enqueue(encoder.encode("second"));
          controller.close();
        },
      }),
    );
  });
  return {
    port: server.addr.port,
    count: () => count,
    release: released.resolve,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** A client with connections that stay open. */
class Client implements Disposable {
  readonly #agent = new Agent({ keepAlive: true });

  constructor(private readonly port: number) {}

  /** @returns the status, or the error of the connection */
  status(host: string, target = "/"): Promise<number | string> {
    return new Promise((resolve) => {
      const options = { host: "127.0.0.1", port: this.port, path: target, headers: { host }, agent: this.#agent };
      get(options, (answer) => answer.resume().on("end", () => resolve(answer.statusCode!)))
        .on("error", ({ message }) => resolve(message));
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

Deno.test({
  name: "a revoked grant closes its backend for requests on open connections, and no other request fails",
  ignore: path === undefined,
  fn: () =>
    withPorts(1, async ([port = 0]) => {
      await using vault = backend();
      await using own = backend();
      const world = api("Gateway", "edge", {
        gatewayClassName: "mesh",
        listeners: [{ name: "http", port, protocol: "HTTP" }],
      }) + backendService("vault", vault.port, "bank") + backendService("own", own.port) +
        httpRoute("granted", [{ backendRefs: [{ name: "vault", namespace: "bank", port: 8080 }] }], {
          hostnames: ["vault.example"],
        }) + httpRoute("own", [ruleTo("own")], { hostnames: ["own.example"] });
      await using mesh = await TestMesh.start({
        files: { "world.yaml": world, "grant.yaml": GRANT },
        manifestServices: true,
      });
      const envoy = await mesh.attach(path!, EDGE, true);
      await envoy.ready(port);
      using client = new Client(port);
      await until("the granted service answers", async () => await client.status("vault.example") === 200);

      const got = { "vault.example": new Set<number | string>(), "own.example": new Set<number | string>() };
      let ended = false;
      const sending = Array.from({ length: CLIENTS }, async (_, index) => {
        using client = new Client(port);
        const host = index % 2 ? "vault.example" : "own.example";
        while (!ended) got[host].add(await client.status(host));
      });
      const slow = client.status("vault.example", "/slow");
      await until("the slow answer has begun", () => vault.count() > CLIENTS);

      await mesh.write("grant.yaml");
      await until("the service is closed", async () => await client.status("vault.example") === 500);
      await mesh.settled();
      const before = vault.count();
      const closed = await Promise.all(Array.from({ length: 100 }, () => client.status("vault.example")));
      assert.deepEqual(new Set(closed), new Set([500]));
      assert.equal(vault.count(), before, "no request reaches the backend");
      vault.release();
      assert.equal(await slow, 200, "an answer that had begun ends");

      await mesh.write("grant.yaml", GRANT);
      await until("the service is open again", async () => await client.status("vault.example") === 200);
      ended = true;
      await Promise.all(sending);
      assert.deepEqual(got, { "vault.example": new Set([200, 500]), "own.example": new Set([200]) });
    }),
});
