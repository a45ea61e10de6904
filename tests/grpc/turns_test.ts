import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { frameHead } from "../../lib/grpc/frame.ts";
import { FrameType } from "../../lib/grpc/h2/constants.ts";
import { frame } from "../../lib/grpc/h2/frames.ts";
import type { Call } from "../../lib/grpc/call.ts";
import { GrpcServer } from "../../lib/grpc/server.ts";
import { callHeaders, MemoryClient, messageData } from "./support/grpc_client.ts";
import { type InputQueue, Turns } from "../../lib/grpc/budget/turns.ts";

/** A clock moved by work, and turns begun by the test. */
class ManualTurns {
  ms = 0;
  #next: (() => void) | undefined;
  /** Milliseconds of rest requested with the next turn. */
  rest = 0;
  readonly turns = new Turns({
    now: () => this.ms,
    nextTurn: (callback, rest) => {
      this.#next = callback;
      this.rest = rest;
    },
  });
  /** Finished work, in order. */
  readonly log: string[] = [];

  /** A queue with a fixed time for each piece of work. */
  queue(name: string, pieceMs: number): InputQueue & { pieces: number } {
    const queue = {
      pieces: 0,
      work: (enough: () => boolean) => {
        this.log.push(name);
        while (queue.pieces > 0) {
          queue.pieces--;
          this.ms += pieceMs;
          if (queue.pieces > 0 && enough()) return true;
        }
        return false;
      },
    };
    return queue;
  }

  give(queue: InputQueue & { pieces: number }, pieces: number): void {
    queue.pieces += pieces;
    this.turns.add(queue);
  }

  /** Runs a turn. @returns false: no turn was requested */
  turn(): boolean {
    const next = this.#next;
    this.#next = undefined;
    this.ms += this.rest;
    next?.();
    return next !== undefined;
  }
}

Deno.test("input is worked off as soon as it comes when no other connection has any", () => {
  const manual = new ManualTurns();
  const queue = manual.queue("a", 0.1);
  manual.give(queue, 3);
  assert.deepEqual([queue.pieces, manual.turns.waiting], [0, 0]);
});

Deno.test("a flood is worked off in slices of a millisecond, at most four in a turn of the event loop", () => {
  const manual = new ManualTurns();
  const flood = manual.queue("flood", 0.25);
  manual.give(flood, 100);
  assert.equal(manual.ms, 1, "one slice at once");
  manual.turn();
  assert.equal(manual.ms, 5);
  while (manual.turn()) { /* to the end */ }
  assert.deepEqual([flood.pieces, manual.ms], [0, 25]);
});

Deno.test("a client that sends rarely is served before any flood goes on, and waits for one slice at most", () => {
  const manual = new ManualTurns();
  const floods = ["f1", "f2", "f3"].map((name) => manual.queue(name, 0.25));
  for (const flood of floods) manual.give(flood, 1000);
  for (let i = 0; i < 10; i++) manual.turn();
  const innocent = manual.queue("innocent", 0.05);
  for (let i = 0; i < 20; i++) {
    manual.log.length = 0;
    manual.give(innocent, 1);
    manual.turn();
    assert.equal(manual.log[0], "innocent");
    assert.equal(innocent.pieces, 0);
  }
});

Deno.test("floods get equal shares, also a flood in small pieces", () => {
  const manual = new ManualTurns();
  const steady = manual.queue("steady", 0.25);
  const drips = manual.queue("drips", 0.5);
  manual.give(steady, 100_000);
  const shares = { steady: 0, drips: 0 };
  for (let turn = 0; turn < 500; turn++) {
    const before = { steady: steady.pieces, ms: manual.ms };
    manual.give(drips, 2);
    manual.turn();
    shares.steady += (before.steady - steady.pieces) * 0.25;
    shares.drips += manual.ms - before.ms - (before.steady - steady.pieces) * 0.25;
  }
  const ratio = shares.drips / shares.steady;
  assert.ok(ratio > 0.3 && ratio < 3, `${JSON.stringify(shares)}`);
});

Deno.test("a queue that has gone while it waited is not worked off", () => {
  const manual = new ManualTurns();
  const [flood, gone] = [manual.queue("flood", 0.5), manual.queue("gone", 1)];
  manual.give(flood, 100);
  for (let i = 0; i < 3; i++) manual.give(gone, 100);
  manual.turn();
  manual.turns.remove(gone);
  manual.log.length = 0;
  while (manual.turn()) { /* to the end */ }
  assert.ok(!manual.log.includes("gone"));
  assert.equal(manual.turns.waiting, 0);
});

Deno.test("no turn is asked for as long as no queue waits", () => {
  const manual = new ManualTurns();
  const queue = manual.queue("a", 0.1);
  for (let i = 0; i < 1000; i++) {
    manual.give(queue, 1);
    manual.ms += 0.5;
  }
  assert.equal(manual.turn(), false);
});

Deno.test("after a long piece floods rest as long as it took; who sends now and then is served meanwhile", () => {
  const manual = new ManualTurns();
  const floods = ["f1", "f2"].map((name) => manual.queue(name, 20));
  for (const flood of floods) manual.give(flood, 1000);
  for (let i = 0; i < 10; i++) manual.turn();
  manual.log.length = 0;
  const from = manual.ms;
  for (let i = 0; i < 10; i++) manual.turn();
  assert.deepEqual([manual.log.length, manual.ms - from], [10, 400], "one piece of 20 ms a turn, and as much rest");
  assert.equal(manual.rest, 20);
  manual.ms += 5;
  const innocent = manual.queue("innocent", 2);
  manual.give(innocent, 3);
  assert.deepEqual([manual.log.at(-1), manual.rest], ["innocent", 0], "not after the rest");
  manual.turn();
  assert.deepEqual([innocent.pieces, manual.log.slice(-2)], [0, ["innocent", "innocent"]]);
});

Deno.test("no flood evades its rest by sending the next piece only then", () => {
  const manual = new ManualTurns();
  const flood = manual.queue("flood", 20);
  for (let i = 0; i < 10; i++) {
    manual.give(flood, 1);
    while (manual.turn()) { /* to the end */ }
  }
  const from = manual.ms;
  for (let i = 0; i < 10; i++) {
    manual.give(flood, 1);
    while (manual.turn()) { /* to the end */ }
  }
  assert.ok(manual.ms - from >= 380, `${manual.ms - from} ms for ten pieces of 20 ms`);
});

/** DATA with so many messages, each compressed. */
function manyMessages(stream: number, count: number, flags = 0): Uint8Array {
  const one = gzipSync(new Uint8Array(1000));
  const framed = [...frameHead(one.length, true), ...one];
  return frame(FrameType.DATA, flags, stream, new Uint8Array(Array.from({ length: count }, () => framed).flat()));
}

/** A server with half a millisecond of work for each message, and two clients with a call each. */
async function serve(
  run: (manual: ManualTurns, flood: MemoryClient, quiet: MemoryClient, log: string[]) => Promise<void>,
) {
  const manual = new ManualTurns();
  const log: string[] = [];
  const Stream = {
    name: "Stream",
    input: "x.M",
    output: "x.M",
    handle: (call: Call) => {
      const who = call.headers["x-who"]!;
      call.start({
        message: (bytes) => {
          manual.ms += 0.5;
          log.push(`${who} ${bytes.length}`);
        },
        halfClose: () => (log.push(`${who} ends`), call.end()),
        close: () => log.push(`${who} closes`),
      });
    },
  };
  const server = new GrpcServer([{ name: "x.S", methods: [Stream] }], { turns: manual.turns });
  const [flood, quiet] = ["flood", "quiet"].map((who) => {
    const client = new MemoryClient(server);
    client.send(callHeaders(1, "/x.S/Stream", { "grpc-encoding": "gzip", "x-who": who }));
    return client;
  }) as [MemoryClient, MemoryClient];
  while (manual.turn()) { /* both calls are open */ }
  await run(manual, flood, quiet, log);
  await server.stop(0);
}

Deno.test("many compressed messages in one frame are processed in slices: another client waits for two messages", async () => {
  await serve(async (manual, flood, quiet, log) => {
    flood.send(manyMessages(1, 100, 1));
    assert.ok(log.length <= 2, `${log.length} messages at once`);
    quiet.send(messageData(1, new Uint8Array(3)));
    while (manual.turn()) { /* to the end */ }
    assert.ok(log.indexOf("quiet 3") <= 4, `after ${log.indexOf("quiet 3")} messages`);
    assert.deepEqual(log.filter((line) => line === "flood 1000").length, 100);
    await flood.read();
    assert.deepEqual(log.slice(-2), ["flood ends", "flood closes"], "the end of the frame's stream comes last");
    assert.equal(flood.ends.get(1), "status 0");
  });
});

Deno.test("if a call ends in the middle of a frame, the rest of the frame is dropped and the connection goes on", async () => {
  await serve(async (manual, flood, _quiet, log) => {
    flood.send(manyMessages(1, 100), frame(FrameType.RST_STREAM, 0, 1, new Uint8Array([0, 0, 0, 8])));
    flood.send(callHeaders(3, "/x.S/Stream", { "x-who": "later" }), messageData(3, new Uint8Array(7), 1));
    while (manual.turn()) { /* to the end */ }
    assert.equal(log.filter((line) => line === "flood 1000").length, 100, "a reset waits for what came before it");
    assert.deepEqual(log.slice(-4), ["flood closes", "later 7", "later ends", "later closes"].slice(-4));
    await flood.read();
    assert.deepEqual([flood.ends.get(3), flood.goAways], ["status 0", []]);
  });
});
