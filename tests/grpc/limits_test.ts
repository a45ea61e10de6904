import assert from "node:assert/strict";
import type { CloseReason } from "../../lib/grpc/connection.ts";
import { ErrorCode, FrameType } from "../../lib/grpc/h2/constants.ts";
import { frame, numberFrame } from "../../lib/grpc/h2/frames.ts";
import { encodeHeaders } from "../../lib/grpc/h2/hpack.ts";
import { GrpcServer, type GrpcServerOptions } from "../../lib/grpc/server.ts";
import { type GrpcService, unaryMethod } from "../../lib/grpc/service.ts";
import { ConnectionPlaces } from "../../lib/sockets/listen/places.ts";
import { AT_ONCE } from "./support/h2_client.ts";
import { callHeaders, MemoryClient, messageData } from "./support/grpc_client.ts";

const shape = { input: "x.M", output: "x.M" };
/** A method with an open stream, a method with an answer, and a method without a start. */
const SERVICE: GrpcService = {
  name: "x.S",
  methods: [
    { name: "Stream", ...shape, handle: (call) => call.start({ message() {} }) },
    unaryMethod({ name: "Echo", ...shape }, (request) => request),
    { name: "Later", ...shape, handle() {} },
  ],
};

async function withServer(
  options: GrpcServerOptions,
  run: (server: GrpcServer, closings: CloseReason[]) => Promise<void>,
): Promise<void> {
  const closings: CloseReason[] = [];
  const server = new GrpcServer([SERVICE], {
    turns: AT_ONCE,
    ...options,
    onClosing: (reason) => closings.push(reason),
  });
  try {
    await run(server, closings);
  } finally {
    await server.stop(0);
  }
}

Deno.test("at most 100 calls of a connection wait for their first message; one more may be tried again", async () => {
  await withServer({}, async (server) => {
    const client = new MemoryClient(server);
    for (let i = 0; i < 101; i++) client.send(callHeaders(2 * i + 1, "/x.S/Stream"));
    await client.read();
    assert.deepEqual([...client.ends], [[201, `reset ${ErrorCode.REFUSED_STREAM}`]]);
    client.send(messageData(1, new Uint8Array(3)), callHeaders(203, "/x.S/Stream"));
    await client.read();
    assert.equal(client.ends.size, 1, "a call with a message leaves its place to another");
    assert.equal([...server.connections][0]!.calls.size, 101);
    client.transport.destroy();
  });
});

Deno.test("a call without a first message in time ends; a call with a message stays", async () => {
  await withServer({ firstMessageTimeout: 50 }, async (server) => {
    const client = new MemoryClient(server);
    client.send(callHeaders(1, "/x.S/Stream"), messageData(1, new Uint8Array(3)));
    client.send(callHeaders(3, "/x.S/Stream"), callHeaders(5, "/x.S/Echo"));
    client.send(callHeaders(7, "/x.S/Stream"), frame(FrameType.DATA, 0, 7, new Uint8Array(4)));
    await client.until(() => client.ends.size === 3);
    assert.deepEqual([...client.ends], [[3, "status 4"], [5, "status 4"], [7, "status 4"]]);
    client.transport.destroy();
  });
});

Deno.test("a frame that does not end in time ends its connection, however it drips", async () => {
  const block = encodeHeaders({ ":method": "POST", ":path": "/x.S/Stream", ":scheme": "http" });
  const halves: Record<string, Uint8Array> = {
    "half a head": frame(FrameType.PING, 0, 0, new Uint8Array(8)).subarray(0, 5),
    "half a payload": frame(FrameType.DATA, 0, 1, new Uint8Array(1000)).subarray(0, 500),
    "half a header block": frame(FrameType.HEADERS, 0, 3, block.subarray(0, 10)),
  };
  for (const [what, bytes] of Object.entries(halves)) {
    await withServer({ frameTimeout: 60 }, async (server, closings) => {
      const client = new MemoryClient(server);
      client.send(callHeaders(1, "/x.S/Stream"), messageData(1, new Uint8Array(3)));
      const drip = setInterval(() => {
        client.send(what === "half a header block" ? frame(FrameType.CONTINUATION, 0, 3, block.subarray(0, 1)) : bytes);
      }, 40);
      client.send(bytes);
      if (what === "half a head") clearInterval(drip);
      await client.until(() => client.transport.destroyed);
      clearInterval(drip);
      assert.deepEqual(closings, ["frame"], what);
    });
  }
});

Deno.test("a client that opens no call is closed, even if it speaks HTTP/2 and answers pings", async () => {
  await withServer({ handshakeTimeout: 80, keepaliveInterval: 10 }, async (server, closings) => {
    const client = new MemoryClient(server);
    const pongs = setInterval(() => client.send(frame(FrameType.PING, 1, 0, new Uint8Array(8))), 5);
    await client.until(() => client.transport.destroyed);
    clearInterval(pongs);
    assert.deepEqual(closings, ["handshake"]);
  });
});

Deno.test("a server has places for 10,000 connections unless an option says otherwise", () => {
  assert.equal(new ConnectionPlaces().limit, 10_000);
});

Deno.test("a connection beyond the limit is closed at once and reported, and a freed place is taken", async () => {
  const refused: string[] = [];
  await withServer({ maxConnections: 2, onRefused: (address) => refused.push(address) }, async (server) => {
    const [first, second] = [new MemoryClient(server), new MemoryClient(server)];
    assert.ok(new MemoryClient(server).transport.destroyed);
    assert.deepEqual(refused, ["memory"]);
    first.transport.destroy();
    const third = new MemoryClient(server);
    third.send(callHeaders(1, "/x.S/Echo"), messageData(1, new Uint8Array(3), 1));
    await third.until(() => third.ends.has(1));
    assert.equal(third.ends.get(1), "status 0");
    for (const client of [second, third]) client.transport.destroy();
  });
});

Deno.test("a client that cancels 20,000 ended calls is tolerated; a client that resets calls it never opened is not", async () => {
  await withServer({}, async (server) => {
    const client = new MemoryClient(server);
    client.send(frame(FrameType.SETTINGS, 0, 0), numberFrame(FrameType.WINDOW_UPDATE, 0, 2 ** 30));
    for (let first = 1; first < 40_000; first += 400) {
      const ids = Array.from({ length: 200 }, (_, i) => first + 2 * i);
      for (const id of ids) client.send(callHeaders(id, "/x.S/Echo"), messageData(id, new Uint8Array(1), 1));
      await client.until(() => client.ends.has(ids.at(-1)!));
      for (const id of ids) client.send(numberFrame(FrameType.RST_STREAM, id, ErrorCode.CANCEL));
    }
    await client.read();
    assert.deepEqual([client.goAways, client.ends.get(39_999)], [[], "status 0"]);
    for (let i = 0; i < 3000 && !client.transport.ended; i++) {
      client.send(numberFrame(FrameType.RST_STREAM, 1, ErrorCode.CANCEL));
    }
    await client.read();
    assert.deepEqual(client.goAways, [ErrorCode.ENHANCE_YOUR_CALM]);
    client.transport.destroy();
  });
});

/** Errors of streams caused by a client, and the frames for each error. */
const FAULTS: Record<string, (id: number) => Uint8Array[]> = {
  "a window update of 0": (id) => [numberFrame(FrameType.WINDOW_UPDATE, id, 0)],
  "a window beyond its limit": (id) => [numberFrame(FrameType.WINDOW_UPDATE, id, 2 ** 31 - 1)],
  "data after the end": (id) => [messageData(id, new Uint8Array(1), 1), messageData(id, new Uint8Array(1))],
  "headers that are no request": (id) => [frame(FrameType.HEADERS, 4, id + 2, encodeHeaders({ ":method": "POST" }))],
};
for (const [what, fault] of Object.entries(FAULTS)) {
  Deno.test(`${what}: the error of a stream, and from the thousandth on of its connection`, async () => {
    await withServer({}, async (server) => {
      const client = new MemoryClient(server);
      let i = 0;
      for (; i < 3000 && !client.transport.ended; i++) {
        client.send(
          callHeaders(4 * i + 1, "/x.S/Later"),
          messageData(4 * i + 1, new Uint8Array(1)),
          ...fault(4 * i + 1),
        );
        if (i % 50 === 0) await client.read();
      }
      await client.read();
      assert.ok(i > 500 && i <= 1200, `ended after ${i}`);
      assert.deepEqual(client.goAways, [ErrorCode.ENHANCE_YOUR_CALM]);
      client.transport.destroy();
    });
  });
}
