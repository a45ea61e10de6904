import assert from "node:assert/strict";
import { ErrorCode, FrameType } from "../../../lib/grpc/h2/constants.ts";
import { frame, numberFrame } from "../../../lib/grpc/h2/frames.ts";
import { encodeHeaders } from "../../../lib/grpc/h2/hpack.ts";
import { code, connect, hello, request } from "../support/h2_client.ts";

/** A literal header for the table of the decoder. */
const indexed = (name: string, value: string) =>
  new Uint8Array([0x40, ...encodeHeaders({ [name]: value }).subarray(1)]);

Deno.test("100 calls that a client opens before it has seen our GOAWAY are ignored, and the open one goes on", async () => {
  const { send, frames, streams, connection, transport, events } = connect();
  send(...hello(), request(1));
  connection.goAway();
  for (let i = 1; i <= 100; i++) {
    const id = 2 * i + 1;
    send(request(id), frame(FrameType.DATA, 0, id, new Uint8Array(1000)));
    send(numberFrame(FrameType.WINDOW_UPDATE, id, 1), frame(FrameType.DATA, 1, id, new Uint8Array(10)));
    if (i % 2 === 0) send(numberFrame(FrameType.RST_STREAM, id, ErrorCode.CANCEL));
  }
  send(frame(FrameType.DATA, 1, 1, new Uint8Array(5)));
  streams[0]!.respond({ ":status": "200" }, true);
  const sent = await frames();
  assert.deepEqual(sent.filter((f) => f.type === FrameType.GOAWAY).map((f) => [f.payload[3], code(f)]), [
    [1, ErrorCode.NO_ERROR],
  ]);
  assert.deepEqual(sent.filter((f) => f.type === FrameType.RST_STREAM), []);
  assert.equal(streams.length, 1);
  assert.deepEqual(events, ["data 5", "end", "close"]);
  assert.ok(transport.ended, "the connection closes with its last stream");
  transport.destroy();
});

Deno.test("the bytes of late streams are given back to the connection's window, and their headers enter the table", async () => {
  const { send, frames, connection, events } = connect();
  send(...hello(), request(1));
  connection.goAway();
  const late = new Uint8Array([...encodeHeaders({ ":method": "POST", ":path": "/x", ":scheme": "http" })]);
  send(frame(FrameType.HEADERS, 4, 3, new Uint8Array([...late, ...indexed("later", "known")])));
  for (let i = 0; i < 60; i++) send(frame(FrameType.DATA, 0, 3, new Uint8Array(16384)));
  const updates = (await frames()).filter((f) => f.type === FrameType.WINDOW_UPDATE && f.stream === 0).slice(1);
  assert.ok(updates.reduce((sum, f) => sum + code(f), 0) >= 32 * 16384);
  // Entry 62 is the first of the table: trailers with this index decode only if the late block was read.
  send(frame(FrameType.HEADERS, 5, 1, new Uint8Array([0xbe])));
  assert.deepEqual((await frames()).filter((f) => f.type === FrameType.GOAWAY), []);
  assert.deepEqual(events, ["end"]);
});

Deno.test("a client that goes on opening streams after GOAWAY gets ENHANCE_YOUR_CALM", async () => {
  const { send, frames, connection, transport } = connect();
  send(...hello(), request(1));
  connection.goAway();
  for (let i = 1; i < 3000 && !transport.ended; i++) send(request(2 * i + 1, 5));
  assert.equal(code((await frames()).filter((f) => f.type === FrameType.GOAWAY).at(-1)!), ErrorCode.ENHANCE_YOUR_CALM);
  transport.destroy();
});
