import assert from "node:assert/strict";
import { QUESTIONS_PER_SOCKET, SOCKET_LIFE_MS, UdpTransport } from "../../../lib/dns/upstream/udp.ts";
import type { Exchange } from "../../../lib/dns/upstream/transport.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { query } from "../support/ask.ts";
import { silentLog } from "../support/server.ts";
import { answerTo, closedPort } from "../support/upstream.ts";

/** A transport, and a name server played by the test. */
function stage() {
  const clock = createFakeClock();
  const transport = new UdpTransport(clock, silentLog());
  const to = closedPort();
  const server = Deno.listenDatagram({ transport: "udp", ...to });
  // A name server listens over TCP too; a server that refuses there counts as gone.
  const tcp = Deno.listen(to);
  const believed: string[] = [];
  const ask = async (name: string): Promise<{ exchange: Exchange; packet: Uint8Array; from: Deno.NetAddr }> => {
    const exchange = transport.start(query({ name, id: 1 }), {
      answered: () => {
        believed.push(name);
        exchange.close();
      },
      failed: (_server, reason) => assert.fail(reason),
    });
    exchange.ask(to);
    const [packet, from] = await server.receive();
    return { exchange, packet: packet.slice(), from: from as Deno.NetAddr };
  };
  const close = () => {
    transport.close();
    server.close();
    tcp.close();
  };
  return { clock, transport, server, believed, ask, close };
}

Deno.test("questions leave by another port after some use and after some time, each with an ID of its own", async () => {
  const { clock, ask, close } = stage();
  const ports: number[] = [];
  const ids = new Set<number>();
  for (let i = 0; i < QUESTIONS_PER_SOCKET + 1; i++) {
    const { exchange, packet, from } = await ask("www.example.org");
    ports.push(from.port);
    ids.add(packet[0]! * 256 + packet[1]!);
    exchange.close();
  }
  assert.equal(new Set(ports.slice(0, -1)).size, 1);
  assert.notEqual(ports.at(-1), ports[0]);
  assert.ok(ids.size > QUESTIONS_PER_SOCKET * 0.97, `${ids.size} different IDs`);
  await clock.advance(SOCKET_LIFE_MS);
  const { exchange, from } = await ask("www.example.org");
  assert.notEqual(from.port, ports.at(-1));
  exchange.close();
  close();
});

Deno.test("a socket that was replaced still takes the answers that it waits for, then it is gone", async () => {
  const { clock, transport, server, believed, ask, close } = stage();
  const old = await ask("old.example");
  await clock.advance(SOCKET_LIFE_MS);
  const next = await ask("new.example");
  assert.notEqual(old.from.port, next.from.port);
  assert.equal(transport.isOwn(old.from.port, old.packet), true);
  await server.send(answerTo(old.packet, ["10.0.0.1"]), old.from);
  while (believed.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.deepEqual(believed, ["old.example"]);
  assert.equal(transport.isOwn(old.from.port, old.packet), false);
  while (!isFree(old.from.port)) await new Promise((resolve) => setTimeout(resolve, 1));
  next.exchange.close();
  close();
});

function isFree(port: number): boolean {
  try {
    Deno.listenDatagram({ transport: "udp", hostname: "0.0.0.0", port }).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return false;
    throw error;
  }
}
