import assert from "node:assert/strict";
import { ErrorCode, FrameType, Setting } from "../../../lib/grpc/h2/constants.ts";
import { frame } from "../../../lib/grpc/h2/frames.ts";
import { code, connect, hello, request } from "../support/h2_client.ts";

/** A SETTINGS frame with the entries in the given order, an id any number of times. */
function settings(...entries: readonly (readonly [number, number])[]): Uint8Array {
  const payload = new Uint8Array(6 * entries.length);
  const view = new DataView(payload.buffer);
  entries.forEach(([id, value], i) => {
    view.setUint16(6 * i, id);
    view.setUint32(6 * i + 2, value);
  });
  return frame(FrameType.SETTINGS, 0, 0, payload);
}

Deno.test("a frame of 2,730 settings applies the last one with one walk over 1,000 streams", async () => {
  const { send, streams, connection, frames } = connect({ maxConcurrentStreams: 10_000 });
  send(...hello());
  for (let i = 0; i < 1000; i++) send(request(2 * i + 1, 5));
  for (const stream of streams) {
    stream.respond({ ":status": "200" });
    stream.write(new Uint8Array(10));
  }
  await frames();
  let visited = 0;
  const values = connection.streams.values.bind(connection.streams);
  connection.streams.values = () => values().map((stream) => (visited++, stream));
  send(settings(...Array.from({ length: 2730 }, (_, i) => [Setting.INITIAL_WINDOW_SIZE, 65535 + i % 7] as const)));
  assert.ok(visited <= 1000, `${visited} streams visited`);
  assert.equal(streams[500]!.queue.window, 65535 + 2729 % 7 - 10);
});

const BAD: [string, number, readonly (readonly [number, number])[]][] = [
  ["ENABLE_PUSH of 2", ErrorCode.PROTOCOL_ERROR, [[Setting.ENABLE_PUSH, 2]]],
  ["MAX_FRAME_SIZE of 16,383", ErrorCode.PROTOCOL_ERROR, [[Setting.MAX_FRAME_SIZE, 16383]]],
  ["MAX_FRAME_SIZE of 2^24", ErrorCode.PROTOCOL_ERROR, [[Setting.MAX_FRAME_SIZE, 1 << 24]]],
  ["INITIAL_WINDOW_SIZE of 2^31", ErrorCode.FLOW_CONTROL_ERROR, [[Setting.INITIAL_WINDOW_SIZE, 2 ** 31]]],
  ["a wrong value before a right one", ErrorCode.FLOW_CONTROL_ERROR, [
    [Setting.INITIAL_WINDOW_SIZE, 2 ** 31],
    [Setting.INITIAL_WINDOW_SIZE, 1000],
  ]],
];
for (const [what, expected, entries] of BAD) {
  Deno.test(`${what} ends the connection, in the first SETTINGS and in a later one`, async () => {
    for (const before of [[], hello()]) {
      const { send, frames, transport } = connect();
      send(...before.length === 0 ? hello().slice(0, 1) : before, settings(...entries));
      const goaway = (await frames()).find((f) => f.type === FrameType.GOAWAY);
      assert.equal(code(goaway!), expected);
      transport.destroy();
    }
  });
}

Deno.test("settings of other ids are ignored, and a frame without any is answered", async () => {
  const { send, frames } = connect();
  send(...hello(), settings([0x99, 7], [0xffff, 2 ** 32 - 1]), settings());
  const sent = await frames();
  assert.equal(sent.filter((f) => f.type === FrameType.SETTINGS && f.flags === 1).length, 3);
  assert.deepEqual(sent.filter((f) => f.type === FrameType.GOAWAY), []);
});

Deno.test("a new initial window that lifts a stream's window above 2^31-1 ends the connection", async () => {
  const { send, frames, transport } = connect();
  send(...hello(), request(1), frame(FrameType.WINDOW_UPDATE, 0, 1, new Uint8Array([0x7f, 0xff, 0, 0])));
  send(settings([Setting.INITIAL_WINDOW_SIZE, 2 ** 31 - 1]));
  const goaway = (await frames()).find((f) => f.type === FrameType.GOAWAY);
  assert.equal(code(goaway!), ErrorCode.FLOW_CONTROL_ERROR);
  transport.destroy();
});
