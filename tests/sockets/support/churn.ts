/**
 * A process that accepts and closes connections, and reports the bytes of heap left by each connection. The report is
 * the least of three rounds: leaks are in every round, while code compiled on a busy machine, or a growing table, adds
 * several hundred kB to one round.
 *
 * Permissions: net (loopback).
 */
import { listen } from "../../../lib/sockets/listen/tcp.ts";
import { SocketTransport } from "../../../lib/sockets/transport/socket.ts";

const ROUND = 2000;
const answer = new TextEncoder().encode("done");
const { gc } = globalThis as unknown as { gc(): void };

/** Answers the first byte and closes: in order, or at once. */
const listener = await listen({ host: "127.0.0.1", port: 0 }, (socket) => {
  if (Deno.args[0] === "transport") {
    const transport = new SocketTransport(socket);
    transport.start({ data: () => transport.write(answer, () => transport.end()), close: () => transport.destroy() });
  } else {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(answer));
  }
});

async function call(): Promise<void> {
  using client = await Deno.connect({ hostname: "127.0.0.1", port: listener.port });
  await client.write(new Uint8Array(1));
  const buffer = new Uint8Array(16);
  while (await client.read(buffer) !== null);
}

async function heapAfterRound(): Promise<number> {
  for (let i = 0; i < ROUND; i += 20) await Promise.all(Array.from({ length: 20 }, call));
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    gc();
  }
  return Deno.memoryUsage().heapUsed;
}

await heapAfterRound();
const heaps = [await heapAfterRound()];
for (let i = 0; i < 3; i++) heaps.push(await heapAfterRound());
const growths = heaps.slice(1).map((heap, i) => heap - heaps[i]!);
console.log(Math.round(Math.min(...growths) / ROUND));
await listener.close();
