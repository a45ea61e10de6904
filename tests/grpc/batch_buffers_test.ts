/** Batches are written into reused arrays, never while a socket may still read an array. */
import assert from "node:assert/strict";
import { BatchBuffers, Outbound, SendBudget, SendQueue } from "../../lib/grpc/h2/outbound.ts";
import { RemoteTime } from "../../lib/sockets/patience.ts";
import type { Transport } from "../../lib/sockets/transport/transport.ts";

const SIZE = 32 * 1024;

/** A connection that keeps the given arrays, and calls back on the test's command. */
function connection(budget: SendBudget) {
  const written: { bytes: Uint8Array; done: (error?: Error) => void }[] = [];
  const transport = {
    destroyed: false,
    write: (bytes: Uint8Array, done: (error?: Error) => void) => void written.push({ bytes, done }),
  } as Partial<Transport> as Transport;
  const outbound = new Outbound(transport, budget, new RemoteTime(), () => {}, () => {});
  outbound.window = 1 << 30;
  const send = (byte: number) => {
    const queue = new SendQueue(1, 1 << 30);
    queue.push(new Uint8Array(SIZE).fill(byte), undefined);
    outbound.ready(queue);
    outbound.flush();
    return written.at(-1)!;
  };
  return { send };
}

Deno.test("a batch of another connection reuses the array of a written batch, and not earlier", () => {
  const budget = new SendBudget();
  const [a, b] = [connection(budget), connection(budget)];
  const first = a.send(1);
  const second = b.send(2);
  assert.notEqual(first.bytes.buffer, second.bytes.buffer);
  assert.equal(first.bytes.at(-1), 1, "what waits for the socket stays as it was");
  first.done();
  const third = b.send(3);
  assert.equal(third.bytes.buffer, first.bytes.buffer);
  assert.equal(second.bytes.at(-1), 2);
});

Deno.test("the array of a batch that could not be written is not used again, as its socket may still hold it", () => {
  const budget = new SendBudget();
  const [a, b] = [connection(budget), connection(budget)];
  const failed = a.send(1);
  failed.done(new Error("gone"));
  assert.notEqual(b.send(2).bytes.buffer, failed.bytes.buffer);
});

Deno.test("few free arrays are kept, small batches share others, and foreign arrays are not taken in", () => {
  const buffers = new BatchBuffers();
  const taken = Array.from({ length: 100 }, () => buffers.take(SIZE));
  for (const one of taken) buffers.giveBack(one);
  const again = Array.from({ length: 100 }, () => buffers.take(SIZE));
  const known = new Set(taken.map(({ buffer }) => buffer));
  assert.equal(again.filter(({ buffer }) => known.has(buffer)).length, 64);
  const small = [buffers.take(100), buffers.take(100)];
  assert.ok(small.every(({ buffer, length }) => length === 100 && buffer.byteLength < SIZE && !known.has(buffer)));
  small[0]!.fill(1);
  small[1]!.fill(2);
  assert.ok(small[0]!.every((byte) => byte === 1), "no two batches have the same bytes");
  const foreign = new Uint8Array(SIZE);
  buffers.giveBack(foreign);
  assert.notEqual(buffers.take(SIZE).buffer, foreign.buffer);
});
