import assert from "node:assert/strict";
import fc from "fast-check";
import { HeldInAll } from "../../lib/grpc/budget/held.ts";
import { GARBAGE, LARGE_IN_ALL, LargeMessages, type MessageSource, SMALL } from "../../lib/grpc/budget/large.ts";
import { Code } from "../../lib/grpc/codes.ts";
import { frameHead, freeMessage, MessageReader } from "../../lib/grpc/frame.ts";
import { FrameType } from "../../lib/grpc/h2/constants.ts";
import { frame } from "../../lib/grpc/h2/frames.ts";
import { GrpcServer } from "../../lib/grpc/server.ts";
import type { Call } from "../../lib/grpc/call.ts";
import { AT_ONCE } from "./support/h2_client.ts";
import { callHeaders, MemoryClient } from "./support/grpc_client.ts";
import { runs } from "../properties.ts";

const RUNS = runs(100);

const MESSAGE = 2 * 1024 * 1024;
/** Bytes of a stream that a client may send before the server opens the window again. */
const WINDOW = 256 * 1024;
const PIECE = 16384;

/** A server that notes the calls whose message has come, in order. */
function serve(large = new LargeMessages()) {
  const messages: number[] = [];
  const streams = {
    name: "x.S",
    methods: [{
      name: "Stream",
      ...{ input: "x.M", output: "x.M" },
      handle: (call: Call) =>
        call.start({
          message: ({ length }) => void messages.push(length),
          halfClose: () => call.end(Code.OK),
        }),
    }],
  };
  const held = new HeldInAll(undefined, undefined, large);
  return { server: new GrpcServer([streams], { turns: AT_ONCE, held }), held, messages };
}

/** A client with one call and one message of 2 MB, which it sends as far as the windows allow. */
class Sender {
  readonly client: MemoryClient;
  left = MESSAGE;

  constructor(server: GrpcServer) {
    this.client = new MemoryClient(server);
    this.client.send(callHeaders(1, "/x.S/Stream"), frame(FrameType.DATA, 0, 1, frameHead(MESSAGE, false)));
    this.client.window -= 5;
  }

  /** Sends a piece, and reads the answer. @returns whether a window was open and something was left */
  async send(): Promise<boolean> {
    await this.client.read();
    const isOpen = this.client.window >= PIECE && this.client.streamWindow(1, WINDOW) >= PIECE + 5;
    if (this.left === 0 || !isOpen) return false;
    this.client.send(frame(FrameType.DATA, 0, 1, new Uint8Array(PIECE)));
    this.client.spend(1, PIECE);
    this.left -= PIECE;
    return true;
  }

  close(): void {
    this.client.transport.destroy();
  }
}

/** All send in turn until nobody can. @returns the most bytes that were held */
async function sendAll(senders: readonly Sender[], held: HeldInAll): Promise<number> {
  let most = 0;
  for (let any = true; any;) {
    any = false;
    for (const sender of senders) {
      if (await sender.send()) any = true;
      most = Math.max(most, held.bytes);
    }
  }
  return most;
}

Deno.test("of 40 connections that send 2 MB each, side by side, the server holds little more than 16 MiB, and takes all messages", async () => {
  const { server, held, messages } = serve();
  const senders = Array.from({ length: 40 }, () => new Sender(server));
  const most = await sendAll(senders, held);
  assert.equal(messages.length, 40);
  assert.ok(most <= LARGE_IN_ALL + 40 * 1.5 * WINDOW, `${most} bytes held, of ${40 * MESSAGE}`);
  for (const sender of senders) sender.close();
  assert.equal(held.bytes, 0);
  await server.stop(0);
});

Deno.test("a connection that stops in the middle of its message keeps the others waiting for two sweeps at most", async () => {
  const { server, held, messages } = serve(new LargeMessages(MESSAGE));
  const [slow, ...others] = Array.from({ length: 4 }, () => new Sender(server));
  for (let i = 0; i < 20; i++) await slow!.send();
  await sendAll(others, held);
  assert.equal(messages.length, 0, "the place is taken");
  held.sweep();
  await sendAll(others, held);
  assert.equal(messages.length, 0, "the place was just taken");
  held.sweep();
  await sendAll(others, held);
  assert.equal(messages.length, 3);
  await sendAll([slow!], held);
  assert.equal(messages.length, 4, "the slow connection may go on all the same");
  for (const sender of [slow!, ...others]) sender.close();
  await server.stop(0);
});

Deno.test("a connection that goes on keeps its place, however long its message takes", () => {
  const large = new LargeMessages(MESSAGE);
  const [steady, waiting] = [new Source(MESSAGE), new Source(MESSAGE)];
  steady.ofMessages = MESSAGE / 4;
  large.changed(steady);
  waiting.ofMessages = SMALL + 1;
  large.changed(waiting);
  large.sweep();
  while (steady.ofMessages < MESSAGE) {
    steady.ofMessages += MESSAGE / 8;
    large.sweep();
    assert.ok(large.waits(waiting));
  }
  large.sweep();
  assert.ok(!large.waits(waiting), "the place of a connection that brings nothing more");
});

Deno.test("a waiting connection that goes away gives up its turn, and small messages never wait", async () => {
  const { server, held, messages } = serve(new LargeMessages(MESSAGE));
  const [first, second, third] = Array.from({ length: 3 }, () => new Sender(server));
  for (const sender of [first!, second!, third!]) for (let i = 0; i < 20; i++) await sender.send();
  const small = new MemoryClient(server);
  small.send(
    callHeaders(1, "/x.S/Stream"),
    frame(FrameType.DATA, 1, 1, new Uint8Array([...frameHead(3, false), 1, 2, 3])),
  );
  await small.read();
  assert.deepEqual([...small.ends], [[1, "status 0"]]);
  second!.close();
  first!.close();
  await sendAll([third!], held);
  assert.deepEqual(messages, [3, MESSAGE]);
  third!.close();
  assert.equal(held.bytes, 0);
  await server.stop(0);
});

/** A source as the connections are. */
class Source implements MessageSource {
  ofMessages = 0;
  turns = 0;
  constructor(readonly expected: number) {}
  readonly onTurn = () => void this.turns++;
}

Deno.test("property: who waits has exactly one turn for each wait, and nobody waits when all others are done", () => {
  const event = fc.record({ at: fc.nat(7), what: fc.constantFrom("more" as const, "done" as const, "sweep" as const) });
  const sizes = fc.array(fc.integer({ min: 2, max: 12 }), { minLength: 8, maxLength: 8 });
  const run = (expected: readonly number[], events: readonly { at: number; what: "more" | "done" | "sweep" }[]) => {
    const large = new LargeMessages(8 * SMALL);
    const sources = expected.map((size) => new Source(size * SMALL));
    const waiting = new Set<Source>();
    const turns = new Map(sources.map((one) => [one, 0]));
    const note = () => {
      for (const one of sources) {
        const waits = large.waits(one);
        if (waiting.has(one) && !waits && one.ofMessages > SMALL) turns.set(one, turns.get(one)! + 1);
        if (waits) waiting.add(one);
        else waiting.delete(one);
      }
    };
    const change = (one: Source, bytes: number) => {
      const before = one.turns;
      one.ofMessages = bytes;
      large.changed(one);
      // Whoever enters without a wait is told all the same; that turn changes nothing.
      if (!waiting.has(one)) one.turns = before;
      note();
    };
    for (const { at, what } of events) {
      const one = sources[at]!;
      if (what === "more") change(one, Math.min(one.expected, one.ofMessages + SMALL));
      else if (what === "done") change(one, 0);
      else {
        large.sweep();
        note();
      }
    }
    for (const one of sources) assert.equal(one.turns, turns.get(one));
    for (let i = 0; i < sources.length; i++) {
      for (const one of sources) if (!large.waits(one)) change(one, 0);
    }
    assert.ok(sources.every((one) => !large.waits(one)), "nobody waits for ever");
  };
  fc.assert(fc.property(sizes, fc.array(event, { maxLength: 60 }), run), { numRuns: RUNS });
});

Deno.test("only so many expected bytes have places at a time; the next enters when one is done", () => {
  const large = new LargeMessages(3 * MESSAGE);
  const sources = Array.from({ length: 5 }, () => new Source(MESSAGE));
  for (const one of sources) {
    one.ofMessages = SMALL + 1;
    large.changed(one);
  }
  assert.deepEqual(sources.map((one) => large.waits(one)), [false, false, false, true, true]);
  sources[1]!.ofMessages = SMALL;
  large.changed(sources[1]!);
  assert.deepEqual(sources.map((one) => large.waits(one)), [false, false, false, false, true]);
  const huge = new LargeMessages(MESSAGE / 2);
  huge.changed(sources[0]!);
  assert.equal(huge.waits(sources[0]!), false, "a message above the limit comes alone");
});

Deno.test("the collection is asked for once for each 8 MiB of large messages that are over", () => {
  let collections = 0;
  const large = new LargeMessages(undefined, () => void collections++);
  const all = 3 * GARBAGE / MESSAGE;
  for (let i = 0; i < all; i++) {
    const one = new Source(MESSAGE);
    one.ofMessages = MESSAGE;
    large.changed(one);
    one.ofMessages = 0;
    large.changed(one);
  }
  assert.equal(collections, 3);
});

Deno.test("the memory of a large message is given back when it is freed; a small message shares memory and stays", () => {
  const read = (length: number) => {
    const found: Uint8Array[] = [];
    const reader = new MessageReader(undefined, MESSAGE);
    const bytes = new Uint8Array([...frameHead(length, false), ...new Uint8Array(length).fill(7)]);
    for (let at = 0; at < bytes.length; at += PIECE) {
      reader.push(bytes.slice(at, at + PIECE), (message) => {
        found.push(message);
        return true;
      });
    }
    return found[0]!;
  };
  for (const length of [300_000, MESSAGE]) {
    const message = read(length);
    assert.deepEqual([message.length, message[0], message.at(-1)], [length, 7, 7]);
    freeMessage(message);
    assert.equal(message.buffer.byteLength, 0);
  }
  const small = read(1000);
  freeMessage(small);
  assert.deepEqual([small.length, small[0]], [1000, 7]);
  const shared = new Uint8Array(MESSAGE).subarray(0, MESSAGE / 2);
  freeMessage(shared);
  assert.equal(shared.length, MESSAGE / 2);
});
