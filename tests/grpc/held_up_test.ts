import assert from "node:assert/strict";
import type { Call } from "../../lib/grpc/call.ts";
import type { CloseReason } from "../../lib/grpc/connection.ts";
import { FrameType } from "../../lib/grpc/h2/constants.ts";
import { frame } from "../../lib/grpc/h2/frames.ts";
import { GrpcServer } from "../../lib/grpc/server.ts";
import { Turns } from "../../lib/grpc/budget/turns.ts";
import { concatBytes } from "../../lib/resource/block.ts";
import { RemoteTime } from "../../lib/sockets/patience.ts";
import { callHeaders, MemoryClient, messageData } from "./support/grpc_client.ts";
import { AT_ONCE } from "./support/h2_client.ts";

/** A server with a clock under the test's control. The server's stream repeats messages. */
class StandingServer {
  ms = 0;
  readonly closings: CloseReason[] = [];
  readonly server: GrpcServer;
  messages = 0;

  constructor(turns: Turns = AT_ONCE) {
    const handle = (call: Call) =>
      call.start({
        message: (bytes) => {
          this.messages++;
          call.send([bytes], false);
        },
      });
    this.server = new GrpcServer(
      [{ name: "x.S", methods: [{ name: "Stream", input: "x.M", output: "x.M", handle }] }],
      {
        turns,
        time: new RemoteTime(2000, () => this.ms),
        onClosing: (reason) => this.closings.push(reason),
      },
    );
  }

  /** Nothing is read for so long; then the timers come first. */
  holdUp(ms: number): void {
    this.ms += ms;
    this.server.sweep();
  }

  /** As many seconds, each with a look at the clients; `alive` gives a sign of life in each. */
  pass(seconds: number, alive?: MemoryClient): void {
    for (let i = 0; i < seconds; i++) {
      alive?.send(PONG);
      this.holdUp(1000);
    }
  }

  /** A client with a call and a first message. */
  served(): MemoryClient {
    const client = new MemoryClient(this.server);
    client.send(callHeaders(1, "/x.S/Stream"), messageData(1, new Uint8Array(3)));
    return client;
  }
}

const HALF = frame(FrameType.DATA, 0, 1, new Uint8Array(1000)).subarray(0, 500);
const PONG = frame(FrameType.PING, 1, 0, new Uint8Array(8));

/** A client's debt to the server, the time for paying, the payment, and the end without a payment. */
const CASES: Readonly<
  Record<string, {
    readonly owe: (at: StandingServer) => MemoryClient;
    readonly seconds: number;
    /** The client gives signs of life meanwhile. */
    readonly alive?: boolean;
    readonly pay: (client: MemoryClient) => void;
    readonly end: string;
  }>
> = {
  "the first message of a call": {
    owe(at) {
      const client = new MemoryClient(at.server);
      client.send(callHeaders(1, "/x.S/Stream"));
      return client;
    },
    seconds: 10,
    pay: (client) => client.send(messageData(1, new Uint8Array(3))),
    end: "status 4",
  },
  "the end of a frame": {
    owe(at) {
      const client = at.served();
      client.send(HALF);
      return client;
    },
    seconds: 10,
    pay: (client) => client.send(new Uint8Array(509)),
    end: "frame",
  },
  "a sign of life": {
    owe(at) {
      const client = at.served();
      at.pass(31);
      return client;
    },
    seconds: 10,
    pay: (client) => client.send(PONG),
    end: "keepalive",
  },
  "a call": {
    owe: (at) => new MemoryClient(at.server),
    seconds: 60,
    alive: true,
    pay: (client) => client.send(callHeaders(1, "/x.S/Stream"), messageData(1, new Uint8Array(3))),
    end: "handshake",
  },
  "room for what waits for it": {
    owe(at) {
      const client = new MemoryClient(at.server);
      client.transport.stopReading();
      client.send(callHeaders(1, "/x.S/Stream"), messageData(1, new Uint8Array(3)));
      return client;
    },
    seconds: 60,
    alive: true,
    pay: (client) => client.transport.take(),
    end: "stall",
  },
};

for (const [what, { owe, seconds, alive, pay, end }] of Object.entries(CASES)) {
  /** The client's end, if any. */
  const ended = async (at: StandingServer, client: MemoryClient): Promise<string | undefined> => {
    await client.read();
    return client.ends.get(1) ?? at.closings[0];
  };

  Deno.test(`a client that owes ${what} is not ended because the server was held up and did not read it`, async () => {
    for (const before of [0, seconds - 1]) {
      const at = new StandingServer();
      const client = owe(at);
      await client.read();
      at.pass(before, alive ? client : undefined);
      at.holdUp(10 * 60_000);
      assert.equal(await ended(at, client), undefined, `held up after ${before} s`);
      pay(client);
      await client.read();
      // The client stays alive, so that only the debt counts.
      at.pass(seconds, client);
      assert.equal(await ended(at, client), undefined);
      client.transport.destroy();
      await at.server.stop(0);
    }
  });

  Deno.test(`a client that owes ${what} is ended in time by a server that reads all the while`, async () => {
    const at = new StandingServer();
    const client = owe(at);
    await client.read();
    at.pass(seconds - 1, alive ? client : undefined);
    assert.equal(await ended(at, client), undefined);
    at.pass(1, alive ? client : undefined);
    assert.equal(await ended(at, client), end);
    client.transport.destroy();
    await at.server.stop(0);
  });
}

Deno.test("a client whose first message waits for its turn is not late: the server is", async () => {
  let turn = () => {};
  let turnMs = 0;
  // Each reading of this clock takes longer than a slice, so that each slice ends after one frame.
  const turns = new Turns({ now: () => turnMs += 10, nextTurn: (callback) => turn = callback });
  const at = new StandingServer(turns);
  const client = new MemoryClient(at.server);
  client.send(concatBytes([callHeaders(1, "/x.S/Stream"), messageData(1, new Uint8Array(3))]));
  const [connection] = at.server.connections;
  for (let i = 0; i < 20 && connection!.calls.size === 0; i++) turn();
  assert.deepEqual([connection!.calls.size, at.messages, connection!.h2.waitsForTurn], [1, 0, true]);
  at.pass(30);
  await client.read();
  assert.equal(client.ends.size, 0);
  for (let i = 0; i < 20 && at.messages === 0; i++) turn();
  assert.equal(at.messages, 1);
  client.transport.destroy();
  await at.server.stop(0);
});
