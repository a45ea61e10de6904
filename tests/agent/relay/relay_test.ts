import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import type { OwnResponse } from "../../../lib/agent/relay/messages.ts";
import { type OpenRewriter, type OwnHandler, Relay, type RewriteTarget } from "../../../lib/agent/relay/relay.ts";
import { upstreamOpener } from "../../../lib/agent/relay/upstream.ts";
import { ClientCall } from "../../../lib/grpc/client/client_call.ts";
import { ClientConnection } from "../../../lib/grpc/client/client_connection.ts";
import { dial } from "../../../lib/grpc/client/dial.ts";
import { Code } from "../../../lib/grpc/codes.ts";
import { MessageWriter } from "../../../lib/grpc/message_writer.ts";
import { GrpcServer } from "../../../lib/grpc/server.ts";
import type { RpcError } from "../../../lib/grpc/status.ts";
import { createLog, defaultLogOptions } from "../../../lib/kernel/log/log.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { createFakeClock, type FakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { listenUnix } from "../../../lib/sockets/listen/unix.ts";
import { TestDiscovery } from "../support/discovery.ts";
import { PATIENCE, until } from "../../patience.ts";

const LISTENERS = "type.googleapis.com/envoy.config.listener.v3.Listener";
const NAMES = "type.googleapis.com/istio.networking.nds.v1.NameTable";

/** A proxy's stream over the relay's socket. */
class TestProxyStream {
  readonly messages: Uint8Array[] = [];
  readonly ended: Promise<RpcError | undefined>;
  readonly call: ClientCall;

  constructor(connection: ClientConnection, delta: boolean) {
    const { promise, resolve } = Promise.withResolvers<RpcError | undefined>();
    this.ended = promise;
    const method = delta ? "DeltaAggregatedResources" : "StreamAggregatedResources";
    const path = `/envoy.service.discovery.v3.AggregatedDiscoveryService/${method}`;
    this.call = new ClientCall(connection, { authority: "xds", path, maxMessageSize: 64_000_000 }, {
      message: (bytes) => void this.messages.push(new Uint8Array(bytes)),
      end: resolve,
    });
  }
}

interface Parts {
  readonly discovery: TestDiscovery;
  readonly clock: FakeClock;
  /** The relay's log. */
  readonly lines: readonly string[];
  /** The page of metrics. */
  page(): Promise<string>;
  open(delta: boolean): TestProxyStream;
  /** Moves the discovery server away, or back to its port. */
  restart(): Promise<TestDiscovery>;
}

async function relayed(
  own: ReadonlyMap<string, OwnHandler>,
  test: (parts: Parts) => Promise<void>,
  rewriters: ReadonlyMap<string, OpenRewriter> = new Map(),
): Promise<void> {
  const folder = await Deno.makeTempDir();
  let discovery = await TestDiscovery.start();
  const { port } = discovery;
  const clock = createFakeClock();
  const open = upstreamOpener({
    server: () => Promise.resolve({ target: { host: "127.0.0.1", port }, authority: "xds", metadata: {} }),
    keepaliveInterval: 30_000,
    keepaliveTimeout: 10_000,
  });
  const lines: string[] = [];
  const target = { write: (line: Uint8Array) => void lines.push(new TextDecoder().decode(line)), close() {} };
  const log = createLog(["test"], defaultLogOptions, { open: () => target }).scope("test");
  const metrics = createMetrics("pilot-agent");
  const relay = new Relay({ open, own, rewriters, clock, log, metrics, node: "proxy", random: () => 1 });
  const server = new GrpcServer([relay.service]);
  const listener = await listenUnix(`${folder}/XDS`, (transport) => server.accept(transport));
  const connection = new ClientConnection(await dial({ path: `${folder}/XDS` }, PATIENCE));
  try {
    await test({
      discovery,
      clock,
      lines,
      page: async () => (await metrics.scrape()).body,
      open: (delta) => new TestProxyStream(connection, delta),
      restart: async () => discovery = await TestDiscovery.start(port),
    });
  } finally {
    connection.close();
    relay.stop();
    await listener.close();
    await server.stop(0);
    await discovery[Symbol.asyncDispose]();
    await Deno.remove(folder, { recursive: true });
  }
}

const request = (text: string) => new MessageWriter().string(2, LISTENERS).string(6, text).finish();

Deno.test("megabytes that come compressed reach a proxy that takes no compression, in both variants", async () => {
  await relayed(new Map(), async ({ discovery, open }) => {
    for (const [i, delta] of [true, false].entries()) {
      const stream = open(delta);
      stream.call.send(new MessageWriter().string(delta ? 2 : 4, LISTENERS).finish());
      await until("the request is there", () => discovery.streams[i]?.requests.length === 1);
      const { call, delta: asked } = discovery.streams[i]!;
      assert.equal(asked, delta);
      assert(call.acceptsGzip);
      const head = new MessageWriter().string(4, LISTENERS).finish();
      const rest = new MessageWriter().bytes(2, new Uint8Array(6_000_000).fill(9)).finish();
      call.send([gzipSync(head), gzipSync(rest)], true);
      await until("the response is there", () => stream.messages.length === 1);
      assert.equal(stream.messages[0]!.length, head.length + rest.length);
      stream.call.cancel();
    }
  });
});

Deno.test("a second stream ends the first one, and the server has one stream", async () => {
  await relayed(new Map(), async ({ discovery, open }) => {
    const first = open(true);
    first.call.send(request("first"));
    await until("the first stream is there", () => discovery.streams[0]?.requests.length === 1);
    const second = open(true);
    second.call.send(request("second"));
    assert.equal((await first.ended)?.code, Code.CANCELLED);
    await until("the second stream is there", () => discovery.streams[1]?.requests.length === 1);
    await until("the server's first stream is over", () => discovery.streams[0]!.call.closed);
    assert(!discovery.streams[1]!.call.closed);
  });
});

Deno.test("while the server is gone, the proxy's stream waits, and its requests are sent when the server is back", async () => {
  await relayed(new Map(), async ({ discovery, clock, open, restart }) => {
    await discovery[Symbol.asyncDispose]();
    const stream = open(true);
    stream.call.send(request("one"));
    await until("it will be tried again", () => clock.pending() === 1);
    const again = await restart();
    stream.call.send(request("two"));
    await clock.advance(500);
    await until("both requests are there", () => again.streams[0]?.requests.length === 2);
    assert.deepEqual(again.streams[0]!.requests, [request("one"), request("two")]);
    again.streams[0]!.call.send([new MessageWriter().string(4, LISTENERS).finish()], false);
    await until("the response is there", () => stream.messages.length === 1);
    again.streams[0]!.call.end(Code.UNAVAILABLE, "restarting");
    assert.equal((await stream.ended)?.code, Code.UNAVAILABLE);
  });
});

Deno.test("repeated refusals of a server are one line with its name, status and reason, and its first answer is one more line", async () => {
  await relayed(new Map(), async ({ discovery, clock, open, lines }) => {
    const stream = open(true);
    stream.call.send(request("one"));
    for (let i = 0; i < 4; i++) {
      await until("it is asked", () => discovery.streams[i]?.requests.length === 1);
      discovery.streams[i]!.call.end(Code.UNAUTHENTICATED, "authentication failure");
      await until("it will be tried again", () => clock.pending() === 1);
      await clock.advance(30_000);
    }
    await until("it is asked", () => discovery.streams[4]?.requests.length === 1);
    discovery.streams[4]!.call.send([new MessageWriter().string(4, LISTENERS).finish()], false);
    await until("the response is there", () => stream.messages.length === 1);
    assert.equal(lines.length, 2, lines.join(""));
    assert.match(lines[0]!, /warn.*no discovery server: xds: Unauthenticated: authentication failure; the proxy keeps/);
    assert.match(lines[1]!, /info.*the discovery server is reached again/);
  });
});

Deno.test("responses for the agent itself are processed, and acknowledged or rejected, by the agent", async () => {
  const seen: OwnResponse[] = [];
  const names: OwnHandler = (response) => {
    if (response.nonce === "bad") throw new Error("no such table");
    seen.push(response);
  };
  await relayed(new Map([[NAMES, names]]), async ({ discovery, open }) => {
    const stream = open(true);
    stream.call.send(request(""));
    await until("both requests are there", () => discovery.streams[0]?.requests.length === 2);
    const { call, requests } = discovery.streams[0]!;
    for (const nonce of ["good", "bad"]) {
      call.send([new MessageWriter().string(4, NAMES).string(5, nonce).finish()], false);
    }
    await until("both are answered", () => requests.length === 4);
    assert.deepEqual(seen.map(({ nonce }) => nonce), ["good"]);
    assert.match(new TextDecoder().decode(requests[3]), /no such table/);
    assert.equal(stream.messages.length, 0);
  });
});

Deno.test("a rewriter that waits holds up no other type; one that is for a connection that is over is closed", async () => {
  const type = "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig";
  const taken: { readonly target: RewriteTarget; readonly bytes: Uint8Array }[] = [];
  const heard: Uint8Array[] = [];
  let closed = 0;
  const open: OpenRewriter = (_, target) => ({
    take: (bytes) => void taken.push({ target, bytes: new Uint8Array(bytes) }),
    asked: (bytes) => void heard.push(new Uint8Array(bytes)),
    close: () => void closed++,
  });
  await relayed(new Map(), async ({ discovery, open }) => {
    const stream = open(true);
    stream.call.send(request("one"));
    await until("the request is there", () => discovery.streams[0]?.requests.length === 1);
    const { call, requests } = discovery.streams[0]!;
    const [extension, listener] = [type, LISTENERS].map((one) => new MessageWriter().string(4, one).finish());
    call.send([extension!], false);
    call.send([listener!], false);
    await until("the listeners are there", () => stream.messages.length === 1);
    assert.deepEqual(stream.messages, [listener]);
    assert.deepEqual(taken.map(({ bytes }) => bytes), [extension]);
    taken[0]!.target.refuse("n", "no module");
    taken[0]!.target.send(extension!);
    await until("the extension is there", () => stream.messages.length === 2);
    stream.call.send(new MessageWriter().string(2, type).string(6, "n").finish());
    await until("acknowledgement and refusal are there", () => requests.length === 3);
    assert.match(new TextDecoder().decode(requests[2]), /no module/);
    assert.deepEqual(heard, requests.slice(1), "what goes to the server after it was opened");
    call.end(Code.UNAVAILABLE, "restarting");
    await stream.ended;
    assert.equal(closed, 1);
    taken[0]!.target.send(extension!);
  }, new Map([[type, open]]));
});

Deno.test("metrics count sent responses, and show a rejection until the next response is accepted", async () => {
  await relayed(new Map(), async ({ discovery, open, page }) => {
    const stream = open(true);
    stream.call.send(request(""));
    await until("the request is there", () => discovery.streams[0]?.requests.length === 1);
    const sends = (nonce: string) =>
      discovery.streams[0]!.call.send([new MessageWriter().string(4, LISTENERS).string(5, nonce).finish()], false);
    sends("1");
    await until("the response is there", () => stream.messages.length === 1);
    await until("it is measured", async () => /^pilot_xds_send_time_count 1$/m.test(await page()));
    const error = new MessageWriter().varint(1, Code.INTERNAL).string(2, "a bad listener").finish();
    stream.call.send(new MessageWriter().string(2, LISTENERS).string(6, "1").bytes(7, error).finish());
    await until("the rejection shows", async () => /^pilot_xds_lds_reject\{.*err="Internal"\} 1$/m.test(await page()));
    assert.match(await page(), /^pilot_total_xds_rejects\{type="lds"\} 1$/m);
    sends("2");
    await until("the next one is there", () => stream.messages.length === 2);
    stream.call.send(request("2"));
    await until(
      "it is over",
      async () => /^pilot_xds_lds_reject\{node="proxy",err="Internal"\} 0$/m.test(await page()),
    );
    await until("the server hears all of it", () => discovery.streams[0]!.requests.length === 3);
    stream.call.cancel();
    await until("its series ends", async () => !/^pilot_xds_lds_reject\{/m.test(await page()));
  });
});
