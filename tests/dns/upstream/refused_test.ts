import assert from "node:assert/strict";
import { REFUSAL_MS, SILENCE_MS } from "../../../lib/dns/upstream/contact.ts";
import { TcpTransport } from "../../../lib/dns/upstream/tcp.ts";
import type { NameServer, UpstreamTransport } from "../../../lib/dns/upstream/transport.ts";
import { UdpTransport } from "../../../lib/dns/upstream/udp.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { query } from "../support/ask.ts";
import { silentLog } from "../support/server.ts";
import { answerTo, closedPort } from "../support/upstream.ts";

/** Asks a server a question. @returns an answer, or the reason of a failure */
function ask(transport: UpstreamTransport, server: NameServer, name = "www.example.org"): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const exchange = transport.start(query({ name }), {
    answered: () => resolve("answered"),
    failed: (_server, reason) => resolve(reason),
  });
  exchange.ask(server);
  return promise.finally(() => exchange.close());
}

/** Whether a promise has settled, after all pending work of this thread. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol();
  const later = new Promise((resolve) => setTimeout(() => resolve(pending), 20));
  return await Promise.race([promise, later]) !== pending;
}

/** A name server played by the test, over UDP alone. */
function udpOnly(server: NameServer) {
  const conn = Deno.listenDatagram({ transport: "udp", hostname: server.hostname, port: server.port });
  return {
    /** Waits for the next question. @returns sends the answer */
    async next(): Promise<() => Promise<unknown>> {
      const [packet, from] = await conn.receive();
      const answer = answerTo(packet, ["1.1.1.1"]);
      return () => conn.send(answer, from);
    },
    close: () => conn.close(),
  };
}

Deno.test("UDP: a server whose port is closed fails after a moment of silence, and then without waiting", async () => {
  const clock = createFakeClock();
  const transport = new UdpTransport(clock, silentLog());
  const server = closedPort();
  const first = ask(transport, server);
  const second = ask(transport, server, "ftp.example.org");
  await clock.advance(SILENCE_MS);
  assert.match(await first, /ECONNREFUSED/);
  assert.match(await second, /ECONNREFUSED/, "one refusal ends every question to that server");
  assert.match(await ask(transport, server), /ECONNREFUSED/, "known for a while");
  await clock.advance(REFUSAL_MS);
  assert.match(await ask(transport, server), /ECONNREFUSED/, "tried again with the next question, at once");
  transport.close();
  assert.equal(clock.pending(), 0, "no timer is left");
});

Deno.test("UDP: a server that comes back is asked again", async () => {
  const clock = createFakeClock();
  const transport = new UdpTransport(clock, silentLog());
  const server = closedPort();
  const first = ask(transport, server);
  await clock.advance(SILENCE_MS);
  assert.match(await first, /ECONNREFUSED/);
  const tcp = Deno.listen(server);
  const udp = udpOnly(server);
  await clock.advance(REFUSAL_MS);
  const again = ask(transport, server);
  await (await udp.next())();
  assert.equal(await again, "answered");
  transport.close();
  tcp.close();
  udp.close();
});

Deno.test("UDP: a silent server that accepts connections is waited for", async () => {
  const clock = createFakeClock();
  const transport = new UdpTransport(clock, silentLog());
  const server = closedPort();
  const tcp = Deno.listen(server);
  const udp = udpOnly(server);
  const answer = ask(transport, server);
  const reply = await udp.next();
  await clock.advance(SILENCE_MS);
  const connection = await tcp.accept();
  assert.equal(await connection.read(new Uint8Array(1)), null, "a connection without a question");
  assert.equal(await settled(answer), false);
  await reply();
  assert.equal(await answer, "answered");
  connection.close();
  transport.close();
  tcp.close();
  udp.close();
});

Deno.test("UDP: a server without TCP loses one slow question at most", async () => {
  const clock = createFakeClock();
  const transport = new UdpTransport(clock, silentLog());
  const server = closedPort();
  const udp = udpOnly(server);
  const first = ask(transport, server);
  const late = await udp.next();
  await clock.advance(SILENCE_MS);
  assert.match(await first, /ECONNREFUSED/);
  await late();
  let slow = ask(transport, server);
  // Until the late answer has been read.
  while (await settled(slow)) {
    await clock.advance(0);
    slow = ask(transport, server);
  }
  const reply = await udp.next();
  await clock.advance(SILENCE_MS * 4);
  assert.equal(await settled(slow), false, "refused connections do not count for it any more");
  await reply();
  assert.equal(await slow, "answered");
  transport.close();
  udp.close();
});

Deno.test("TCP: a server that refuses fails at once", async () => {
  const transport = new TcpTransport();
  assert.match(await ask(transport, closedPort()), /ECONNREFUSED/);
  transport.close();
});
