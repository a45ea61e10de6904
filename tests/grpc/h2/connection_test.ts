import assert from "node:assert/strict";
import fc from "fast-check";
import { ErrorCode, FrameType, PREFACE } from "../../../lib/grpc/h2/constants.ts";
import { frame, numberFrame, settingsFrame } from "../../../lib/grpc/h2/frames.ts";
import { HeaderList } from "../../../lib/grpc/h2/headers.ts";
import { encodeHeaders, HpackDecoder } from "../../../lib/grpc/h2/hpack.ts";
import { code, connect, type Frame, hello, request } from "../support/h2_client.ts";
import { runs } from "../../properties.ts";

Deno.test("a request cut into single bytes is read as well", async () => {
  const { send, streams, events } = connect();
  const all = [...hello(), request(1), frame(FrameType.DATA, 1, 1, new Uint8Array(5))];
  for (const part of all) for (const byte of part) send(Uint8Array.of(byte));
  await Promise.resolve();
  assert.equal(streams[0]!.headers[":path"], "/x");
  assert.deepEqual(events, ["data 5", "end"]);
});

Deno.test("data goes out as the windows of stream and connection allow, and not a byte more", async () => {
  const { send, streams, frames } = connect();
  send(PREFACE, settingsFrame({ 4: 1000 }), request(1), request(3));
  for (const stream of streams) {
    stream.respond({ ":status": "200" });
    stream.write(new Uint8Array(70_000));
  }
  const sizes = (list: Frame[]) => {
    const sums = new Map<number, number>();
    for (const f of list) {
      if (f.type === FrameType.DATA) sums.set(f.stream, (sums.get(f.stream) ?? 0) + f.payload.length);
    }
    return Object.fromEntries(sums);
  };
  assert.deepEqual(sizes(await frames()), { 1: 1000, 3: 1000 });
  send(numberFrame(FrameType.WINDOW_UPDATE, 1, 100_000));
  assert.deepEqual(sizes(await frames()), { 1: 65535 - 2000 }, "the connection's window is used up");
  send(numberFrame(FrameType.WINDOW_UPDATE, 0, 100_000));
  assert.deepEqual(sizes(await frames()), { 1: 70_000 - 1000 - 63535 });
  send(settingsFrame({ 4: 70_000 }));
  assert.deepEqual(sizes(await frames()), { 3: 69_000 }, "a larger initial window counts for open streams");
});

Deno.test("a peer that does not read is handed no more than the connection's share", async () => {
  const { send, streams, transport, frames } = connect();
  transport.stopReading();
  send(
    PREFACE,
    settingsFrame({ 4: 0x7fffffff }),
    numberFrame(FrameType.WINDOW_UPDATE, 0, 0x7fff0000 - 65535),
    request(1),
  );
  let taken = false;
  streams[0]!.write(new Uint8Array(1_000_000), () => taken = true);
  await frames();
  const handed = transport.written.reduce((sum, bytes) => sum + bytes.length, 0);
  assert.ok(handed >= 100_000 && handed < 101_000, String(handed));
  assert.equal(taken, false);
  transport.take();
  await frames();
  assert.equal(taken, true);
});

Deno.test("trailers come after all data, and a stream whose client has not finished is reset without error", async () => {
  const { send, streams, frames, events } = connect();
  send(...hello(), request(1));
  streams[0]!.respond({ ":status": "200" });
  streams[0]!.write(new Uint8Array(100_000));
  streams[0]!.end({ "grpc-status": "0" });
  await frames();
  assert.deepEqual(events, [], "the window is shut, so the stream is still open");
  send(numberFrame(FrameType.WINDOW_UPDATE, 0, 100_000), numberFrame(FrameType.WINDOW_UPDATE, 1, 100_000));
  const last = (await frames()).slice(-2);
  assert.deepEqual(last.map((f) => f.type), [FrameType.HEADERS, FrameType.RST_STREAM]);
  const trailers = new HeaderList(1000);
  new HpackDecoder().decode(last[0]!.payload, trailers);
  assert.deepEqual({ ...trailers.headers }, { "grpc-status": "0" });
  assert.equal(code(last[1]!), ErrorCode.NO_ERROR);
  assert.deepEqual(events, ["close"]);
});

/** A connection's answer to illegal bytes: the code of its GOAWAY. */
const VIOLATIONS: [string, number, () => Uint8Array[]][] = [
  ["no SETTINGS first", ErrorCode.PROTOCOL_ERROR, () => [PREFACE, request(1)]],
  ["DATA on a stream that was never opened", ErrorCode.PROTOCOL_ERROR, () => [...hello(), frame(0, 0, 1)]],
  ["HEADERS on an even stream", ErrorCode.PROTOCOL_ERROR, () => [...hello(), request(2)]],
  [
    "a frame inside a header block",
    ErrorCode.PROTOCOL_ERROR,
    () => [...hello(), request(1, 0), frame(6, 0, 0, new Uint8Array(8))],
  ],
  ["CONTINUATION from nowhere", ErrorCode.PROTOCOL_ERROR, () => [...hello(), frame(9, 4, 1)]],
  ["PUSH_PROMISE", ErrorCode.PROTOCOL_ERROR, () => [...hello(), frame(5, 4, 1, new Uint8Array(4))]],
  ["a window beyond 2^31-1", ErrorCode.FLOW_CONTROL_ERROR, () => [...hello(), numberFrame(8, 0, 0x7fffffff)]],
  ["an initial window beyond 2^31-1", ErrorCode.FLOW_CONTROL_ERROR, () => [PREFACE, settingsFrame({ 4: 0x80000000 })]],
  [
    "a frame of 17,000 bytes",
    ErrorCode.FRAME_SIZE_ERROR,
    () => [...hello(), request(1), frame(0, 0, 1, new Uint8Array(17_000))],
  ],
  ["a PING of 7 bytes", ErrorCode.FRAME_SIZE_ERROR, () => [...hello(), frame(6, 0, 0, new Uint8Array(7))]],
  [
    "a header block that does not decode",
    ErrorCode.COMPRESSION_ERROR,
    () => [...hello(), frame(1, 4, 1, new Uint8Array([0xff, 0xff]))],
  ],
  [
    "padding longer than its frame",
    ErrorCode.PROTOCOL_ERROR,
    () => [...hello(), request(1), frame(0, 8, 1, new Uint8Array([9, 0]))],
  ],
];
for (const [what, expected, bytes] of VIOLATIONS) {
  Deno.test(`${what}: the connection ends with GOAWAY and the right code`, async () => {
    const { send, frames, events, transport } = connect();
    send(...bytes());
    const goaway = (await frames()).find((f) => f.type === FrameType.GOAWAY);
    assert.equal(code(goaway!), expected);
    assert.ok(transport.ended);
    assert.equal(events.at(-1), "connection closed");
    transport.destroy();
  });
}

/** Floods of legal frames. */
const FLOODS: [string, (i: number) => Uint8Array[]][] = [
  ["pings", () => [frame(FrameType.PING, 0, 0, new Uint8Array(8))]],
  ["settings", () => [settingsFrame({})]],
  ["empty data", (i) => i === 0 ? [request(1)] : [frame(FrameType.DATA, 0, 1)]],
  ["streams that are reset at once", (i) => [request(2 * i + 1), numberFrame(FrameType.RST_STREAM, 2 * i + 1, 8)]],
  ["priorities", () => [frame(FrameType.PRIORITY, 0, 1, new Uint8Array(5))]],
  ["streams beyond the limit", (i) => [request(2 * i + 1)]],
];
for (const [what, flood] of FLOODS) {
  Deno.test(`a flood of ${what} ends the connection`, async () => {
    const { send, frames, transport } = connect();
    send(...hello());
    let i = 0;
    while (!transport.ended && i < 3000) send(...flood(i++));
    assert.ok(i > 500 && i < 3000, `ended after ${i}`);
    const goaway = (await frames()).find((f) => f.type === FrameType.GOAWAY);
    assert.equal(code(goaway!), ErrorCode.ENHANCE_YOUR_CALM);
    transport.destroy();
  });
}

Deno.test("many calls in a row, and a ping for every piece of data, do not count as a flood", async () => {
  const { send, streams, transport, frames } = connect();
  send(...hello(), numberFrame(FrameType.WINDOW_UPDATE, 0, 1_000_000));
  for (let i = 0; i < 3000; i++) {
    const id = 2 * i + 1;
    send(request(id), frame(FrameType.DATA, 0, id, new Uint8Array(5)), frame(FrameType.DATA, 1, id));
    streams[i]!.respond({ ":status": "200" });
    streams[i]!.write(new Uint8Array(10));
    streams[i]!.end({ "grpc-status": "0" });
    await Promise.resolve();
    send(frame(FrameType.PING, 0, 0, new Uint8Array(8)));
  }
  await frames();
  assert.equal(transport.ended, false);
  assert.equal(streams.length, 3000);
});

Deno.test("a flood of pings from a peer that reads nothing ends the connection before it fills memory", () => {
  const { send, transport, connection } = connect();
  send(...hello());
  transport.stopReading();
  const pings = new Uint8Array(17 * 100);
  for (let i = 0; i < 100; i++) pings.set(frame(FrameType.PING, 0, 0, new Uint8Array(8)), 17 * i);
  for (let i = 0; i < 1000 && !transport.destroyed && !transport.ended; i++) send(pings);
  assert.ok(transport.destroyed || transport.ended);
  assert.ok(connection.outbound.unwritten < 1_000_000);
  transport.destroy();
});

Deno.test("a header block of many parts is put together, and one without end is refused", async () => {
  const { send, streams, frames, transport } = connect();
  const block = encodeHeaders({ ":method": "POST", ":path": "/long", ":scheme": "http", big: "x".repeat(1000) });
  send(...hello(), frame(FrameType.HEADERS, 0, 1, block.subarray(0, 10)));
  for (let at = 10; at < block.length; at += 100) {
    send(frame(FrameType.CONTINUATION, at + 100 >= block.length ? 4 : 0, 1, block.subarray(at, at + 100)));
  }
  assert.equal(streams[0]!.headers.big!.length, 1000);
  send(frame(FrameType.HEADERS, 0, 3, new Uint8Array(0)));
  for (let i = 0; i < 10 && !transport.ended; i++) send(frame(FrameType.CONTINUATION, 0, 3, new Uint8Array(16000)));
  assert.equal(code((await frames()).find((f) => f.type === FrameType.GOAWAY)!), ErrorCode.ENHANCE_YOUR_CALM);
  transport.destroy();
});

Deno.test("after GOAWAY open streams go on, new streams are ignored, and the connection closes with the last stream", async () => {
  const { send, streams, frames, transport, connection } = connect();
  send(...hello(), request(1, 5));
  connection.goAway();
  send(request(3));
  const sent = await frames();
  assert.deepEqual(sent.filter((f) => f.type === FrameType.RST_STREAM), []);
  assert.equal(transport.ended, false);
  streams[0]!.respond({ ":status": "200" }, true);
  await frames();
  assert.equal(transport.ended, true);
  transport.destroy();
});

Deno.test("a client's windows are replenished: 10 MB go through", async () => {
  const { send, events, frames } = connect();
  send(...hello(), request(1));
  let stream = 256 * 1024;
  let connection = 1024 * 1024;
  let total = 0;
  await frames();
  while (total < 10_000_000) {
    send(frame(FrameType.DATA, 0, 1, new Uint8Array(16384)));
    total += 16384;
    stream -= 16384;
    connection -= 16384;
    if (total % (16384 * 8) === 0) {
      for (const f of await frames()) {
        if (f.type !== FrameType.WINDOW_UPDATE) continue;
        if (f.stream === 1) stream += code(f);
        else connection += code(f);
      }
    }
    assert.ok(stream >= 0 && connection >= 0, "a client that keeps to its windows is never stuck");
  }
  assert.equal(events.filter((event) => event.startsWith("data")).length, Math.ceil(10_000_000 / 16384));
});

Deno.test("arbitrary frames and bytes never throw, and every stream that was opened is closed once", () => {
  const any = fc.record({
    type: fc.nat(10),
    flags: fc.nat(255),
    stream: fc.nat(7),
    payload: fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.constant(encodeHeaders({ ":method": "POST", ":path": "/x" })),
    ),
  }).map((f) => frame(f.type, f.flags, f.stream, f.payload));
  fc.assert(
    fc.property(
      fc.array(fc.oneof({ weight: 8, arbitrary: any }, fc.uint8Array({ maxLength: 30 })), { maxLength: 30 }),
      (parts) => {
        const { send, transport, streams, events } = connect();
        send(...hello(), ...parts);
        for (const stream of streams) {
          stream.respond({ ":status": "200" });
          stream.write(new Uint8Array(10));
          stream.end({ "grpc-status": "0" });
        }
        transport.destroy();
        assert.equal(events.filter((event) => event === "close").length, streams.length);
        assert.equal(events.filter((event) => event === "connection closed").length, 1);
      },
    ),
    { numRuns: runs(1500) },
  );
});
