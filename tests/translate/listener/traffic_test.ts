/** Real connections through a real Envoy with built listeners: the upstream of each connection. */
import assert from "node:assert/strict";
import { encode } from "../../../lib/pb/codec.ts";
import type { InboundTarget } from "../../../lib/translate/inbound/target.ts";
import { inboundClusterName } from "../../../lib/translate/inbound/target.ts";
import { inboundListeners } from "../../../lib/translate/listener/inbound/inbound.ts";
import { listenerContributions } from "../../../lib/translate/listener/outbound/outbound.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { startEnvoyProcess } from "../../../scripts/envoy.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { envoyPath } from "../../envoy/path.ts";
import { meshReader } from "../mesh_reader.ts";
import { port, service } from "../make.ts";
import { mergeAll } from "./merged.ts";

const envoyBinary = envoyPath();

/** A server that echoes, and reports each connection. */
function echoServer() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const first = Promise.withResolvers<void>();
  const connections: Deno.Conn[] = [];
  (async () => {
    for await (const connection of listener) {
      first.resolve();
      connections.push(connection);
      connection.readable.pipeTo(connection.writable).catch(() => {/* the client went away */});
    }
  })();
  return {
    port: listener.addr.port,
    reached: first.promise,
    [Symbol.dispose]() {
      listener.close();
      for (const connection of connections) {
        try {
          connection.close();
        } catch { /** Already closed by the end of the stream. */ }
      }
    },
  };
}

/** A cluster with an endpoint on loopback. */
function cluster(name: string, port: number): envoy.config.cluster.v3.Cluster {
  const address = { socket_address: { address: "127.0.0.1", port_value: port } };
  const endpoints = [{ lb_endpoints: [{ endpoint: { address } }] }];
  return { name, type: 0, connect_timeout: { seconds: 5 }, load_assignment: { cluster_name: name, endpoints } };
}

/** Runs Envoy until `use` is done. */
async function withEnvoy(
  resources: envoy.config.bootstrap.v3.Bootstrap.StaticResources,
  use: () => Promise<void>,
): Promise<void> {
  const bootstrap = encode("envoy.config.bootstrap.v3.Bootstrap", { static_resources: resources });
  await using running = await startEnvoyProcess({ binary: envoyBinary!, bootstrap });
  const ports = (resources.listeners ?? []).map(({ address }) => address?.socket_address?.port_value ?? 0);
  await running.ready(ports.map((port) => `127.0.0.1:${port}`));
  await use();
}

Deno.test({
  name: "a sniffed inbound port takes HTTP as HTTP and all else as bytes",
  ignore: envoyBinary === undefined,
  fn: () =>
    withPorts(1, async ([number = 0]) => {
      using upstream = echoServer();
      const target: InboundTarget = {
        port: number,
        servicePort: port(number, "Unsupported"),
        bind: "127.0.0.1",
        captureMode: "NONE",
        fromSidecarIngress: true,
      };
      const built = inboundListeners(meshReader({ properties: { interceptionMode: "NONE" } }), [target]);
      const listeners = built.listeners.map(({ message }) => message);
      await withEnvoy({ listeners, clusters: [cluster(inboundClusterName(number), upstream.port)] }, async () => {
        using bytes = await Deno.connect({ hostname: "127.0.0.1", port: number });
        await bytes.write(new TextEncoder().encode("no http\n"));
        const buffer = new Uint8Array(64);
        const read = await bytes.read(buffer);
        assert.equal(new TextDecoder().decode(buffer.subarray(0, read ?? 0)), "no http\n");
        // The echo is not an HTTP answer. The proxy's own error shows that the proxy treated the request as HTTP.
        const answer = await fetch(`http://127.0.0.1:${number}/`);
        await answer.body?.cancel();
        assert.equal(answer.status, 502);
        assert.equal(answer.headers.get("server"), "mesh-proxy");
      });
    }),
});

Deno.test({
  name: "two TLS services on one loopback port: each is reached by its name, the older also without one",
  ignore: envoyBinary === undefined,
  fn: () =>
    withPorts(1, async ([number = 0]) => {
      using older = echoServer();
      using younger = echoServer();
      const ports = [port(number, "TLS")];
      const services = [
        service("older.example.com", { ports, addresses: ["10.1.0.1"], creationTimestamp: 1 }),
        service("younger.example.com", { ports, addresses: ["10.1.0.2"], creationTimestamp: 2 }),
      ];
      const read = meshReader({ properties: { interceptionMode: "NONE" }, services });
      const merged = mergeAll(read, services.flatMap((s) => listenerContributions(read, s.hostname)));
      assert.deepEqual(merged.conflicts, []);
      const listeners = merged.listeners.map(({ message }) => message);
      const clusters = [
        cluster(`outbound|${number}||older.example.com`, older.port),
        cluster(`outbound|${number}||younger.example.com`, younger.port),
      ];
      await withEnvoy({ listeners, clusters }, async () => {
        await hello("younger.example.com", number, younger.reached);
        await hello("unknown.example.com", number, older.reached);
      });
    }),
});

/** Begins a TLS handshake with a server name and waits for the upstream. (The echo ends the handshake.) */
async function hello(serverName: string, number: number, reached: Promise<void>): Promise<void> {
  const plain = await Deno.connect({ hostname: "127.0.0.1", port: number });
  using tls = await Deno.startTls(plain, { hostname: serverName });
  await Promise.all([reached, assert.rejects(tls.handshake())]);
}
