import assert from "node:assert/strict";
import { Relay } from "../../../lib/agent/relay/relay.ts";
import { upstreamOpener } from "../../../lib/agent/relay/upstream.ts";
import { wasmModules } from "../../../lib/agent/start/wasm_modules.ts";
import { GrpcServer } from "../../../lib/grpc/server.ts";
import { createLog, defaultLogOptions } from "../../../lib/kernel/log/log.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { lastText } from "../../../lib/agent/wasm/config/wire_fields.ts";
import { listen } from "../../../lib/sockets/listen/tcp.ts";
import { SocketTransport } from "../../../lib/sockets/transport/socket.ts";
import { envoyPath } from "../../envoy/path.ts";
import { SubscribedEnvoy, until } from "../../envoy/subscribed.ts";
import { TestDiscovery, type TestStream } from "../support/discovery.ts";
import { agentInput } from "../support/agent_input.ts";
import { answeringModule, sha256 } from "../support/wasm_files.ts";
import { CLUSTER, LISTENER, listenerWithFilter } from "../support/wasm_listener.ts";
import { EXTENSION, extensionOf, response, type TestWasmFilter } from "../support/wasm_messages.ts";
import { TestWebServer } from "../support/web_server.ts";

/** Requests on a stream, by type; field numbers of the two variants. */
const ofType = ({ delta, requests }: TestStream, type: string) =>
  requests.filter((bytes) => lastText(bytes, delta ? 2 : 4) === type);
const errorOf = (stream: TestStream, bytes: Uint8Array) => {
  const status = lastText(bytes, stream.delta ? 7 : 6);
  return status === "" ? undefined : status;
};
const nonceOf = (stream: TestStream, bytes: Uint8Array) => lastText(bytes, stream.delta ? 6 : 5);

async function withMesh(
  delta: boolean,
  test: (parts: { envoy: SubscribedEnvoy; stream: TestStream; metrics: () => Promise<string> }) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  await using discovery = await TestDiscovery.start();
  const metrics = createMetrics("pilot-agent");
  const log = createLog(["wasm", "xdsproxy"], defaultLogOptions, { open: () => ({ write() {}, close() {} }) });
  const input = agentInput(folder, { settings: { WASM_HTTP_REQUEST_MAX_RETRIES: 1 } });
  const parts = { clock: systemClock, log, metrics };
  const wasm = wasmModules({ ...input, paths: { ...input.paths, data: folder } }, parts)!;
  const server = () =>
    Promise.resolve({ target: { host: "127.0.0.1", port: discovery.port }, authority: "xds", metadata: {} });
  const relay = new Relay({
    open: upstreamOpener({ server, keepaliveInterval: 30_000, keepaliveTimeout: 10_000 }),
    rewriters: new Map([[EXTENSION, wasm.open]]),
    own: new Map(),
    ...{ clock: systemClock, log: log.scope("xdsproxy"), metrics, node: "test" },
  });
  const grpc = new GrpcServer([relay.service]);
  const socket = await listen({ host: "127.0.0.1", port: 0 }, (one) => grpc.accept(new SocketTransport(one)));
  const envoy = await SubscribedEnvoy.start(envoyPath()!, socket.port, delta);
  let output = "";
  try {
    await until("the proxy asks", () => (discovery.streams[0]?.requests.length ?? 0) > 0);
    await test({ envoy, stream: discovery.streams[0]!, metrics: async () => (await metrics.scrape()).body });
  } catch (error) {
    output = "show";
    throw error;
  } finally {
    const said = await envoy.stop();
    if (output !== "") console.error(said);
    relay.stop();
    wasm.stop();
    await socket.close();
    await grpc.stop(0);
    await Deno.remove(folder, { recursive: true });
  }
}

for (const delta of [true, false]) {
  const variant = delta ? "delta" : "sotw";
  Deno.test({
    name:
      `a real Envoy (${variant}) runs fetched modules: it denies or allows without them, gets them when they come, and keeps one whose next version does not come`,
    ignore: envoyPath() === undefined,
    fn: () =>
      withMesh(delta, async ({ envoy, stream, metrics }) => {
        let isServed = false;
        await using modules = new TestWebServer((request) => {
          const status = /\/(\d+)\.wasm$/.exec(request.url)?.[1];
          return isServed && status !== undefined
            ? new Response(answeringModule(Number(status)))
            : new Response(null, { status: 503 });
        });
        const filter = (name: string, status: number, changed: Partial<TestWasmFilter> = {}) => ({
          name,
          config: extensionOf({ name, url: `http://${modules.host}/${status}.wasm`, ...changed }),
        });
        const say = (nonce: string, filters: { name: string; config: Uint8Array }[]) =>
          stream.call.send([response(variant, { version: nonce, nonce }, filters)], false);
        stream.call.send([response(variant, { version: "1", nonce: "c", type: CLUSTER }, [])], false);
        stream.call.send([
          response(
            variant,
            { version: "1", nonce: "l", type: LISTENER },
            ["closed", "open"].map((name) => ({ name, config: listenerWithFilter(name) })),
          ),
        ], false);
        await until("the filters are asked for", () => ofType(stream, EXTENSION).length >= 1);
        const [closed, open] = [filter("closed", 418), filter("open", 420, { failOpen: true })];
        say("e1", [closed, open]);
        const ports = { closed: await envoy.listener("closed"), open: await envoy.listener("open") };
        const ask = async (name: "closed" | "open") => (await SubscribedEnvoy.get(ports[name], "a"))?.status;
        await until("what stands in is in force", async () => await ask("closed") === 403 && await ask("open") === 200);
        const refusal = await until("the server knows", () =>
          ofType(stream, EXTENSION).map((bytes) => errorOf(stream, bytes)).find(Boolean));
        assert.match(
          refusal,
          /Wasm filter closed: .*status 503, expected 200; everything is denied without it; Wasm filter open: .* allowed without it/,
        );
        isServed = true;
        await until("the modules run", async () =>
          await ask("closed") === 418 && await ask("open") === 420);
        say("e2", [filter("closed", 430, { sha256: await sha256(answeringModule(999)) }), open]);
        await until("the server knows", () =>
          ofType(stream, EXTENSION).some((bytes) =>
            /has the digest .*the version before stays in force/.test(errorOf(stream, bytes) ?? "")
          ));
        await until("it is acknowledged", () =>
          ofType(stream, EXTENSION).some((bytes) =>
            nonceOf(stream, bytes) === "e2" && errorOf(stream, bytes) === undefined
          ));
        assert.equal(await ask("closed"), 418);
        say("e3", [filter("closed", 430, { sha256: await sha256(answeringModule(430)) }), open]);
        await until("the next module runs", async () =>
          await ask("closed") === 430);
        assert.deepEqual(await envoy.rejections(), []);
        assert.match(await metrics(), /wasm_cache_entries 3/);
      }),
  });
}

Deno.test({
  name: "a file that is a module by its first bytes alone is denied by Envoy, whose own reason reaches the server",
  ignore: envoyPath() === undefined,
  fn: () =>
    withMesh(true, async ({ envoy, stream }) => {
      const broken = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 99, 99]);
      await using modules = new TestWebServer(() => new Response(broken));
      stream.call.send([response("delta", { version: "1", nonce: "c", type: CLUSTER }, [])], false);
      const resources = [{ name: "closed", config: listenerWithFilter("closed") }];
      stream.call.send([response("delta", { version: "1", nonce: "l", type: LISTENER }, resources)], false);
      await until("the filter is asked for", () => ofType(stream, EXTENSION).length >= 1);
      const config = extensionOf({ name: "closed", url: `http://${modules.host}/a.wasm` });
      stream.call.send([response("delta", { version: "1", nonce: "e" }, [{ name: "closed", config }])], false);
      const reason = await until(
        "the server knows",
        () => ofType(stream, EXTENSION).map((bytes) => errorOf(stream, bytes)).find(Boolean),
      );
      assert.match(reason, /wasm/i);
      const port = await envoy.listener("closed");
      assert.notEqual((await SubscribedEnvoy.get(port, "a"))?.status, 200);
    }),
});
