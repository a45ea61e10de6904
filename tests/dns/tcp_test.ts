import assert from "node:assert/strict";
import { IDLE_MS, MAX_CONNECTIONS } from "../../lib/dns/tcp_server.ts";
import { FrameParser } from "../../lib/dns/packet/tcp_frames.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { query, reply, sendTcp } from "./support/ask.ts";
import { startServer } from "./support/server.ts";
import { startUpstream } from "./support/upstream.ts";

const question = query({ name: "productpage.ns1" });
const framed = (message: Uint8Array) => Uint8Array.from([message.length >>> 8, message.length & 255, ...message]);

Deno.test("messages are found however the stream is cut", () => {
  const sizes = [0, 3000, 35, 65535];
  const messages = [question, ...sizes.map((size) => new Uint8Array(size).fill(size))];
  const bytes = Uint8Array.from(messages.flatMap((message) => [...framed(message)]));
  for (const size of [2, 3, 7, 100, 1024, 70_000]) {
    const parser = new FrameParser();
    const found: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      parser.push(bytes.slice(at, at + size));
      for (let message = parser.next(); message !== undefined; message = parser.next()) found.push(message.slice());
    }
    assert.deepEqual(found, messages, `parts of ${size}`);
  }
});

Deno.test("a connection without a request is closed after ten seconds, a connection with requests stays", async () => {
  const clock = createFakeClock();
  using test = await startServer({}, { clock });
  const silent = await Deno.connect(test.at);
  const busy = await Deno.connect(test.at);
  const ask = async () => {
    await busy.write(framed(question));
    const answer = new Uint8Array(512);
    const count = await busy.read(answer);
    return reply(answer.slice(2, count ?? 0)).answers;
  };
  assert.deepEqual(await ask(), ["productpage.ns1 A 9.9.9.9"]);
  await clock.advance(IDLE_MS / 2);
  assert.deepEqual(await ask(), ["productpage.ns1 A 9.9.9.9"]);
  await clock.advance(IDLE_MS / 2 + 1);
  assert.equal(await silent.read(new Uint8Array(1)), null);
  assert.deepEqual(await ask(), ["productpage.ns1 A 9.9.9.9"]);
  silent.close();
  busy.close();
});

Deno.test("of too many connections the connection with the longest silence is closed", async () => {
  const clock = createFakeClock();
  using test = await startServer({}, { clock });
  const first = await Deno.connect(test.at);
  await first.write(framed(question));
  assert.ok((await first.read(new Uint8Array(512)) ?? 0) > 0);
  await clock.advance(1);
  const others = await Promise.all(Array.from({ length: MAX_CONNECTIONS }, () => Deno.connect(test.at)));
  assert.equal(await first.read(new Uint8Array(1)), null);
  assert.deepEqual(reply((await sendTcp(test.at, [question]))[0]!).answers, ["productpage.ns1 A 9.9.9.9"]);
  for (const conn of [first, ...others]) conn.close();
});

Deno.test("a client that asks much and reads nothing is read no further, and harms no other client", async () => {
  const many = Array.from({ length: 4000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
  using test = await startServer({}, {}, { "many.example": { ips: many }, "small.example": { ips: ["10.0.0.1"] } });
  const greedy = await Deno.connect(test.at);
  const large = framed(query({ name: "many.example" }));
  const burst = new Uint8Array(large.length * 1000);
  for (let i = 0; i < 1000; i++) burst.set(large, i * large.length);
  await greedy.write(burst);
  for (let i = 0; i < 20; i++) {
    assert.deepEqual(reply((await sendTcp(test.at, [query({ name: "small.example" })]))[0]!).answers.length, 1);
  }
  // The cost of such a client is 64 kB of answer for each read question.
  assert.ok(
    (await test.metric("dns_requests_total")) < 20 + 200,
    "it stopped reading from a client that does not read",
  );
  greedy.close();
});

Deno.test("closing the server ends connections and questions under way", async () => {
  const upstream = startUpstream("127.0.0.1", 0, { "*": "silence" });
  const test = await startServer({ servers: ["127.0.0.1"], port: upstream.port });
  const waiting = sendTcp(test.at, [query({ name: "www.bing.com" })]);
  while (upstream.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await Promise.all([test.server.close(), test.server.close()]);
  // The connection may end by a reset: only the end matters.
  assert.deepEqual(await waiting.catch(() => []), []);
  test[Symbol.dispose]();
  upstream.close();
});
