/** Clients that read fast do not keep the event loop: after some milliseconds of sending, connections wait for a turn. */
import assert from "node:assert/strict";
import { SendTurns } from "../../lib/grpc/budget/send_turns.ts";
import { Outbound, SendBudget, SendQueue } from "../../lib/grpc/h2/outbound.ts";
import { RemoteTime } from "../../lib/sockets/patience.ts";
import type { Transport } from "../../lib/sockets/transport/transport.ts";

/** Connections whose sockets take each batch in a millisecond, and call back before the event loop turns. */
class FastReaders {
  ms = 0;
  #turn: (() => void) | undefined;
  readonly log: string[] = [];
  readonly #budget = new SendBudget(
    undefined,
    undefined,
    new SendTurns({ now: () => this.ms, nextTurn: (callback) => this.#turn = callback }),
  );

  connection(name: string): { readonly outbound: Outbound; send(bytes: number): SendQueue } {
    const transport = {
      destroyed: false,
      write: (bytes: Uint8Array, done: () => void) => {
        this.log.push(`${name} ${bytes.length < 100 ? "control" : "data"}`);
        this.ms++;
        queueMicrotask(done);
      },
    } as Partial<Transport> as Transport;
    const outbound = new Outbound(transport, this.#budget, new RemoteTime(), () => {}, () => {});
    outbound.window = 1 << 30;
    const send = (bytes: number) => {
      const queue = new SendQueue(1, 1 << 30);
      queue.push(new Uint8Array(bytes), undefined);
      outbound.ready(queue);
      return queue;
    };
    return { outbound, send };
  }

  /** Everything that runs before the event loop turns. @returns what was sent meanwhile */
  async sent(): Promise<string[]> {
    await new Promise((resolve) => setTimeout(resolve, 0));
    return this.log.splice(0);
  }

  /** The next turn of the event loop. @returns whether a connection asked for the turn */
  turn(): boolean {
    const turn = this.#turn;
    this.#turn = undefined;
    turn?.();
    return turn !== undefined;
  }
}

const BATCH = 64 * 1024;

Deno.test("a connection with much to send stops after some milliseconds, and goes on with the next turn", async () => {
  const readers = new FastReaders();
  const queue = readers.connection("a").send(30 * BATCH);
  let turns = 0;
  const sent: number[] = [];
  do sent.push((await readers.sent()).length); while (readers.turn() && ++turns < 100);
  assert.equal(queue.size, 0, "everything is sent in the end");
  assert.ok(sent.every((count) => count <= 12), `batches in a turn: ${sent}`);
});

Deno.test("another connection has its turn before the first goes on", async () => {
  const readers = new FastReaders();
  readers.connection("a").send(100 * BATCH);
  await readers.sent();
  readers.connection("b").send(BATCH);
  assert.deepEqual(await readers.sent(), [], "the turn is over");
  readers.turn();
  const sent = await readers.sent();
  assert.ok(sent.includes("b data"), `${sent}`);
});

Deno.test("a control frame of a connection without data does not wait", async () => {
  const readers = new FastReaders();
  readers.connection("a").send(100 * BATCH);
  await readers.sent();
  readers.connection("b").outbound.control(new Uint8Array(17));
  assert.deepEqual(await readers.sent(), ["b control"]);
});

Deno.test("a connection that closes in its wait sends nothing more", async () => {
  const readers = new FastReaders();
  const { outbound, send } = readers.connection("a");
  send(100 * BATCH);
  await readers.sent();
  outbound.close();
  readers.turn();
  assert.deepEqual(await readers.sent(), []);
});
