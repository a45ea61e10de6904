/** Responses in parts: events, for as long as the client listens. */
import assert from "node:assert/strict";
import type { HttpRequest } from "../../lib/http/message.ts";
import { get, RawClient, withRoutes } from "./support/serve.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";

/** Parts sent by hand, and whether the receiver has stopped. */
class Feed {
  readonly ended = Promise.withResolvers<void>();
  #next = Promise.withResolvers<string>();

  send(part: string): void {
    const { resolve } = this.#next;
    this.#next = Promise.withResolvers();
    resolve(part);
  }

  async *parts({ signal }: HttpRequest): AsyncIterable<string> {
    const gone = new Promise<undefined>((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
    for (;;) {
      const part = await Promise.race([this.#next.promise, gone]);
      if (part === undefined) return this.ended.resolve();
      yield part;
    }
  }
}

function route(feed: Feed) {
  return get("/events", (request) => ({ status: 200, body: "", parts: feed.parts(request) }));
}

Deno.test("parts come one by one, without a length, and end when the client goes", async () => {
  const feed = new Feed();
  await withRoutes([route(feed)], async ({ port, lines }) => {
    {
      using client = await RawClient.connect(port);
      await client.write("GET /events HTTP/1.1\r\nhost: x\r\n\r\n");
      await client.until(/\r\n\r\n/);
      assert.match(client.text, /transfer-encoding: chunked/i);
      assert.doesNotMatch(client.text, /content-length/i);
      feed.send("one\n");
      await client.until(/one\n/);
      feed.send("two\n");
      await client.until(/two\n/);
    }
    await feed.ended.promise;
    assert.deepEqual(lines, []);
  });
});

Deno.test("a server that closes ends parts at once", async () => {
  const feed = new Feed();
  await withRoutes([route(feed)], async ({ server, port }) => {
    using client = await RawClient.connect(port);
    await client.write("GET /events HTTP/1.1\r\nhost: x\r\n\r\n");
    await client.until(/\r\n\r\n/);
    await server.close();
    await feed.ended.promise;
    assert.match(await client.rest(), /0\r\n\r\n$/, "the response has ended as it should");
  });
});

Deno.test("a client may wait for a part as long as it likes, and must read an available part", async () => {
  const clock = createFakeClock();
  const feed = new Feed();
  await withRoutes([route(feed)], async ({ port }) => {
    using client = await RawClient.connect(port);
    await client.write("GET /events HTTP/1.1\r\nhost: x\r\n\r\n");
    await client.until(/\r\n\r\n/);
    await clock.advance(3_600_000);
    feed.send("late");
    await client.until(/late/);
    // More than the kernel's buffers hold.
    feed.send("x".repeat(64 * 1024 * 1024));
    while (client.text.length < 1024 * 1024) assert.ok(await client.read());
    await clock.advance(31_000);
    await feed.ended.promise;
  }, { clock });
});
