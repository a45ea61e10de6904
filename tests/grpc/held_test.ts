import assert from "node:assert/strict";
import { frameHead, MessageReader } from "../../lib/grpc/frame.ts";
import { FrameType } from "../../lib/grpc/h2/constants.ts";
import { frame, numberFrame } from "../../lib/grpc/h2/frames.ts";
import { HELD_IN_ALL, HELD_PER_CONNECTION, HeldInAll, PATIENCE } from "../../lib/grpc/budget/held.ts";
import { GrpcServer } from "../../lib/grpc/server.ts";
import { RemoteTime } from "../../lib/sockets/patience.ts";
import { AT_ONCE } from "./support/h2_client.ts";
import { callHeaders, MemoryClient, messageData } from "./support/grpc_client.ts";

const MESSAGE = 4 * 1024 * 1024;
const shape = { input: "x.M", output: "x.M" };

/** A server that notes the sizes of received messages. */
function serve(held?: HeldInAll) {
  const sizes: number[] = [];
  const streams = {
    name: "x.S",
    methods: [{
      name: "Stream",
      ...shape,
      handle: (call: { start(handler: { message(bytes: Uint8Array): void }): void }) =>
        call.start({ message: (bytes) => void sizes.push(bytes.length) }),
    }],
  };
  let later = 0;
  const time = new RemoteTime(Infinity, () => performance.now() + later);
  const server = new GrpcServer([streams], { turns: AT_ONCE, time, ...(held === undefined ? {} : { held }) });
  /** Sweeps as if so many milliseconds had passed since the last time. */
  const sweepAfter = (ms: number) => {
    later += ms;
    server.held.sweep();
  };
  return { server, sizes, sweepAfter };
}

/** Opens a stream with a small message, and sends the head of a message of 4 MB. */
function begin(client: MemoryClient, id: number): void {
  client.send(callHeaders(id, "/x.S/Stream"), messageData(id, new Uint8Array(1)));
  client.send(frame(FrameType.DATA, 0, id, frameHead(MESSAGE, false)));
  client.window -= 11;
}

/** Sends parts of messages to streams in turn, within the server's window. @returns the number of bytes */
async function fill(client: MemoryClient, ids: readonly number[], most = Infinity): Promise<number> {
  let sent = 0;
  for (let i = 0; client.window >= 16384 && sent < most; i++) {
    client.send(frame(FrameType.DATA, 0, ids[i % ids.length]!, new Uint8Array(16384)));
    client.window -= 16384;
    sent += 16384;
    await client.read();
  }
  return sent;
}

Deno.test("a connection holds at most 16 MiB of incomplete messages, all together 256 MiB, and one message 10 s", () => {
  assert.deepEqual([HELD_PER_CONNECTION, HELD_IN_ALL, PATIENCE], [16 * 2 ** 20, 256 * 2 ** 20, 10_000]);
  const { perConnection, limit } = new HeldInAll();
  assert.deepEqual([perConnection, limit], [HELD_PER_CONNECTION, HELD_IN_ALL], "the default");
});

Deno.test("one-byte pieces of a message cost two bytes each, not the buffers that they came in", () => {
  const reader = new MessageReader(undefined, MESSAGE);
  reader.push(frameHead(1_000_000, false), () => true);
  let copies = 0;
  let before = reader.capacity;
  for (let i = 0; i < 100_000; i++) {
    reader.push(new Uint8Array(16384).subarray(7, 8), () => true);
    if (reader.capacity === before) continue;
    copies += reader.held;
    before = reader.capacity;
    assert.ok(reader.capacity <= 2 * reader.held + 64, `${reader.capacity} for ${reader.held}`);
  }
  assert.ok(copies <= 2 * reader.held, `${copies} bytes copied for ${reader.held}`);
});

Deno.test("a message that lies whole in one chunk is not copied", () => {
  const chunk = new Uint8Array([...frameHead(3, false), 1, 2, 3]);
  new MessageReader(undefined, 100).push(chunk, (message) => {
    assert.equal(message.buffer, chunk.buffer);
    return true;
  });
});

Deno.test("200 messages of 4 MB that never end hold 16 MB of their connection, then its window is shut", async () => {
  const { server } = serve();
  const client = new MemoryClient(server);
  await client.read();
  const ids = Array.from({ length: 200 }, (_, i) => 2 * i + 1);
  for (const id of ids) {
    begin(client, id);
    await client.read();
  }
  const sent = await fill(client, ids);
  assert.ok(sent > 14 * 2 ** 20 && sent <= HELD_PER_CONNECTION, `${sent} bytes taken`);
  assert.ok(server.held.bytes <= HELD_PER_CONNECTION);
  assert.equal(client.ends.size, 0, "nothing is ended before its time");
  client.transport.destroy();
  assert.equal(server.held.bytes, 0, "what a connection holds goes with it");
  await server.stop(0);
});

Deno.test("in a connection without room the slowest messages end after 10 s, and the others go on", async () => {
  const { server, sizes, sweepAfter } = serve();
  const client = new MemoryClient(server);
  client.send(numberFrame(FrameType.WINDOW_UPDATE, 0, 2 ** 30));
  await client.read();
  const ids = [1, 3, 5, 7, 9, 11];
  for (const id of ids) begin(client, id);
  // The first streams get more than the last.
  await fill(client, [1, 3, 5, 7, 9, 11, 1, 3, 5, 7, 9, 1, 3, 5, 7, 1, 3, 5]);
  sweepAfter(PATIENCE - 1000);
  await client.read();
  assert.equal(client.ends.size, 0);
  sweepAfter(2000);
  await client.read();
  assert.deepEqual([...client.ends], [[11, "status 8"], [9, "status 8"]]);
  await fill(client, [1], MESSAGE);
  assert.ok(sizes.includes(MESSAGE), "the fastest had room to end");
  client.transport.destroy();
  await server.stop(0);
});

Deno.test("a message that takes long is not ended as long as there is room for others", async () => {
  const { server, sweepAfter } = serve();
  const client = new MemoryClient(server);
  begin(client, 1);
  await client.read();
  sweepAfter(100 * PATIENCE);
  await client.read();
  assert.equal(client.ends.size, 0);
  client.transport.destroy();
  await server.stop(0);
});

Deno.test("when all connections together exceed the limit, the connections that hold most lose their messages, and small connections keep theirs", async () => {
  const held = new HeldInAll(HELD_PER_CONNECTION, 8 * 2 ** 20);
  const { server } = serve(held);
  const clients = [0, 1, 2].map(() => new MemoryClient(server));
  for (const client of clients) {
    begin(client, 1);
    await client.read();
  }
  const [small, ...large] = clients;
  small!.send(frame(FrameType.DATA, 0, 1, new Uint8Array(1000)));
  for (let i = 0; i < 400 && large.every((client) => client.ends.size === 0); i++) {
    for (const client of large) {
      client.send(frame(FrameType.DATA, 0, 1, new Uint8Array(8192)));
      // Messages end at 4 MB, and the next message begins.
      await client.read();
      if (i === 250) client.send(callHeaders(3, "/x.S/Stream"), frame(FrameType.DATA, 0, 3, frameHead(MESSAGE, false)));
      if (i > 250) client.send(frame(FrameType.DATA, 0, 3, new Uint8Array(8192)));
    }
    assert.ok(held.bytes <= held.limit);
  }
  assert.deepEqual(large.map((client) => client.ends.size > 0).sort(), [false, true]);
  assert.equal(small!.ends.size, 0);
  for (const client of clients) client.transport.destroy();
  assert.equal(held.bytes, 0);
  await server.stop(0);
});

Deno.test("headers of open calls count, and a call without room may be tried again", async () => {
  const { server } = serve(new HeldInAll(100_000));
  const client = new MemoryClient(server);
  const large = { metadata: "x".repeat(12_000) };
  for (let i = 0; i < 8; i++) {
    client.send(callHeaders(2 * i + 1, "/x.S/Stream", large), messageData(2 * i + 1, new Uint8Array(1)));
  }
  await client.read();
  assert.deepEqual([...client.ends], []);
  client.send(callHeaders(99, "/x.S/Stream", large));
  await client.read();
  assert.deepEqual([...client.ends], [[99, "reset 7"]]);
  client.transport.destroy();
  assert.equal(server.held.bytes, 0);
  await server.stop(0);
});
