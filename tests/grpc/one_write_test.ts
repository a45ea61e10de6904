/** Bytes of the same time go out in one write: each write is a record of TLS and a call of the system. */
import assert from "node:assert/strict";
import { Outbound, SendBudget, SendQueue } from "../../lib/grpc/h2/outbound.ts";
import { RemoteTime } from "../../lib/sockets/patience.ts";
import { MemoryTransport } from "./support/memory_transport.ts";

/** A connection whose stream 1 has `size` bytes to send behind a control frame. */
function connection(size: number, { budget = new SendBudget(), window = 65535 } = {}) {
  const transport = new MemoryTransport();
  const outbound = new Outbound(transport, budget, new RemoteTime(), () => {}, () => {});
  const queue = new SendQueue(1, window);
  outbound.control(Uint8Array.of(1, 2, 3));
  if (size > 0) {
    queue.push(new Uint8Array(size).fill(9), undefined);
    outbound.ready(queue);
  }
  return { transport, outbound };
}

Deno.test("the head of an answer, the answer and its end go out in one write, in this order", async () => {
  const { transport } = connection(4);
  await Promise.resolve();
  assert.equal(transport.written.length, 1);
  assert.deepEqual([...transport.written[0]!], [1, 2, 3, 0, 0, 4, 0, 0, 0, 0, 0, 1, 9, 9, 9, 9]);
});

Deno.test("a control frame goes out alone without data, without a window, or without room for data", async () => {
  const full = new SendBudget(32 * 1024);
  const cases = [connection(0), connection(4, { window: 0 })];
  const stuck = connection(40 * 1024, { budget: full });
  stuck.transport.stopReading();
  await Promise.resolve();
  for (const { transport } of cases) assert.deepEqual(transport.written, [Uint8Array.of(1, 2, 3)]);
  const before = stuck.transport.written.length;
  assert.ok(stuck.outbound.unwritten <= 33 * 1024, `${stuck.outbound.unwritten}`);
  stuck.outbound.control(Uint8Array.of(7));
  await Promise.resolve();
  assert.deepEqual(stuck.transport.written.slice(before).map((bytes) => [...bytes]), [[7]], "though data wait");
});
