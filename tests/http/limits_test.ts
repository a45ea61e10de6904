/** Clients that take their time, or all of the server's: time is moved by hand. */
import assert from "node:assert/strict";
import { textResponse } from "../../lib/http/message.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { exchange, get, RawClient, withRoutes } from "./support/serve.ts";

const LARGE = 64 * 1024 * 1024;
const ASK = "GET /page HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

const routes = [
  get("/page", () => textResponse(200, "page")),
  { methods: ["POST"] as const, path: "/post", handle: () => textResponse(200, "posted") },
  get("/large", () => textResponse(200, "x".repeat(LARGE))),
];

const cases: [name: string, bytes: string, after: RegExp | undefined, time: number][] = [
  ["that sends nothing", "", undefined, 10_000],
  ["that never ends its head", "GET /page HTTP/1.1\r\nhost: x\r\n", undefined, 10_000],
  ["that never ends its body", "POST /post HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc", undefined, 30_000],
  ["that asks nothing more", "GET /page HTTP/1.1\r\nhost: x\r\n\r\n", /page$/, 90_000],
  ["that begins another request and never ends it", "GET /page HTTP/1.1\r\nhost: x\r\n\r\nGET /p", /page$/, 90_000],
];
for (const [name, bytes, after, time] of cases) {
  Deno.test(`a connection ${name} is closed after ${time / 1000} s, not before`, async () => {
    const clock = createFakeClock();
    await withRoutes(routes, async ({ port }) => {
      using client = await RawClient.connect(port);
      await client.write(bytes);
      if (after !== undefined) await client.until(after);
      // A witness gets its answer after the server has read the client's bytes.
      const witness = async () => assert.match(await exchange(port, ASK), /page$/);
      await witness();
      let closed = false;
      const rest = client.rest().then(() => closed = true);
      await clock.advance(time - 1);
      await witness();
      assert.equal(closed, false);
      await clock.advance(1);
      await rest;
    }, { clock });
  });
}

Deno.test("a client that does not take its response is given up after 30 s without progress", async () => {
  const clock = createFakeClock();
  await withRoutes(routes, async ({ port }) => {
    using client = await RawClient.connect(port);
    await client.write("GET /large HTTP/1.1\r\nhost: x\r\n\r\n");
    await client.until(/200 OK/);
    await clock.advance(30_000);
    const text = await client.rest();
    assert.ok(text.length < LARGE, "it was broken off");
  }, { clock });
});

Deno.test("a client that takes its response slowly gets all of it", async () => {
  const clock = createFakeClock();
  await withRoutes(routes, async ({ port }) => {
    using client = await RawClient.connect(port);
    await client.write("GET /large HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    // Each step is larger than the kernel's buffers, so that the server sends some bytes during the step.
    for (let length = 8 * 1024 * 1024; length < LARGE; length += 8 * 1024 * 1024) {
      while (client.text.length < length) assert.ok(await client.read());
      await clock.advance(20_000);
    }
    assert.ok((await client.rest()).length > LARGE);
  }, { clock });
});

Deno.test("one connection too many closes the connection that has waited longest for its client, never a working connection", async () => {
  const started = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const busy = get("/busy", async () => {
    started.resolve();
    await finish.promise;
    return textResponse(200, "done");
  });
  await withRoutes([...routes, busy], async ({ port }) => {
    using worker = await RawClient.connect(port);
    await worker.write("GET /busy HTTP/1.1\r\nhost: x\r\n\r\n");
    await started.promise;
    using silent = await RawClient.connect(port);
    using active = await RawClient.connect(port);
    for (const client of [active, await RawClient.connect(port)]) {
      await client.write("GET /page HTTP/1.1\r\nhost: x\r\n\r\n");
      await client.until(/page$/);
    }
    assert.equal(await silent.rest(), "", "the silent one had to go");
    await active.write("GET /page HTTP/1.1\r\nhost: x\r\n\r\n");
    await active.until(/page[\s\S]+page$/);
    finish.resolve();
    await worker.until(/done$/);
  }, { limits: { connections: 3 } });
});

Deno.test("while all connections are at work, a further connection is closed at once, and later connections are served", async () => {
  const started = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const busy = get("/busy", async () => {
    started.resolve();
    await finish.promise;
    return textResponse(200, "done");
  });
  await withRoutes([...routes, busy], async ({ port }) => {
    using worker = await RawClient.connect(port);
    await worker.write("GET /busy HTTP/1.1\r\nhost: x\r\n\r\n");
    await started.promise;
    {
      using refused = await RawClient.connect(port);
      assert.equal(await refused.rest(), "");
    }
    finish.resolve();
    await worker.until(/done$/);
    using next = await RawClient.connect(port);
    await next.write("GET /page HTTP/1.1\r\nhost: x\r\n\r\n");
    await next.until(/page$/);
  }, { limits: { connections: 1 } });
});

Deno.test("incomplete bodies hold bounded memory together: the oldest is dropped, and later bodies are served", async () => {
  const upload = {
    methods: ["POST"] as const,
    path: "/upload",
    maxBody: 1 << 20,
    handle: () => textResponse(200, "taken"),
  };
  const head = (length: number) => `POST /upload HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`;
  await withRoutes([upload], async ({ port }) => {
    const stuck: RawClient[] = [];
    // A part of each body arrives before the next body begins, as an answer to another client shows.
    for (let i = 0; i < 6; i++) {
      const client = await RawClient.connect(port);
      await client.write(`${head(1 << 20)}${"x".repeat(600_000)}`).catch(() => {});
      stuck.push(client);
      assert.match(
        await exchange(port, `${head(1000).replace("host: x", "host: x\r\nconnection: close")}${"y".repeat(1000)}`),
        /taken$/,
      );
    }
    assert.deepEqual(await Promise.all(stuck.slice(0, 3).map((client) => client.rest())), ["", "", ""]);
    const last = stuck.at(-1)!;
    await last.write("x".repeat((1 << 20) - 600_000));
    await last.until(/taken$/);
    for (const client of stuck) client[Symbol.dispose]();
  }, { limits: { bodyBytes: 2_000_000 } });
});
