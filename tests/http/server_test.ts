/** The server's answers to clients: honest, mistaken, and vanishing clients. */
import assert from "node:assert/strict";
import { bodyText, jsonResponse, textResponse } from "../../lib/http/message.ts";
import type { Route } from "../../lib/http/route.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { exchange, get, RawClient, withRoutes } from "./support/serve.ts";

const echo: Route = {
  methods: ["POST", "PUT"],
  path: "/echo",
  maxBody: 10,
  handle: (request) => textResponse(200, `${request.method} ${bodyText(request)}`),
};

Deno.test("a handler gets path, query, headers, host, body and peer as plain data; its response goes out whole", async () => {
  const seen: unknown[] = [];
  const route: Route = {
    methods: ["POST"],
    path: "/pods/:namespace/:name",
    handle: (request) => {
      const { method, path, params, query, headers, host, peer } = request;
      seen.push({
        method,
        path,
        params,
        query: [...query],
        agent: headers["user-agent"],
        host,
        body: bodyText(request),
      });
      assert.match(peer.address, /^127\.0\.0\.1:\d+$/);
      return { ...jsonResponse({ a: 1 }, request, 201), headers: { "content-type": "application/json", "x-one": "1" } };
    },
  };
  await withRoutes([route], async ({ port }) => {
    const response = await fetch(`http://localhost:${port}/pods/x%20y/z?pretty&a=1&a=%26`, {
      method: "POST",
      headers: { "user-agent": "test" },
      body: "hello",
    });
    assert.deepEqual([response.status, response.headers.get("x-one")], [201, "1"]);
    assert.equal(await response.text(), '{\n  "a": 1\n}\n');
    assert.deepEqual(seen, [{
      method: "POST",
      path: "/pods/x%20y/z",
      params: { namespace: "x y", name: "z" },
      query: [["pretty", ""], ["a", "1"], ["a", "&"]],
      agent: "test",
      host: `localhost:${port}`,
      body: "hello",
    }]);
  });
});

Deno.test("HEAD is GET without the body, with the length of the body", async () => {
  await withRoutes([get("/page", () => textResponse(200, "hello"))], async ({ port }) => {
    const answer = await exchange(port, "HEAD /page HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(answer, /content-length: 5\r\n/i);
    assert.match(answer, /\r\n\r\n$/);
  });
});

Deno.test("a wrong method is 405 with the allowed methods and the command; OPTIONS gives the same; an unknown path is 404", async () => {
  const routes: Route[] = [
    { ...echo, command: ({ host }) => `curl -X POST http://${host}/echo` },
    get("/page", () => textResponse(200, "")),
  ];
  await withRoutes(routes, async ({ port }) => {
    const ask = async (method: string, path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
      return [response.status, response.headers.get("allow"), await response.text()];
    };
    assert.deepEqual(await ask("GET", "/echo"), [
      405,
      "POST, PUT, OPTIONS",
      `method: got GET, expected POST or PUT\ncurl -X POST http://127.0.0.1:${port}/echo\n`,
    ]);
    assert.deepEqual(await ask("DELETE", "/page"), [405, "GET, HEAD, OPTIONS", "method: got DELETE, expected GET\n"]);
    assert.deepEqual(await ask("OPTIONS", "/page"), [204, "GET, HEAD, OPTIONS", ""]);
    assert.deepEqual(await ask("GET", "/nothing"), [404, null, "no page /nothing\n"]);
    assert.match(
      await exchange(port, "OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"),
      /^HTTP\/1\.1 204 /,
    );
  });
});

Deno.test("a handler that throws is 500 without details, one log line, and the server goes on", async () => {
  const routes = [
    get("/sync", () => {
      throw new Error("secret");
    }),
    get("/async", () => Promise.reject(new Error("secret"))),
    // A response that cannot be sent.
    get("/bad", () => ({ status: 200, headers: { "x-name": "a\r\nset-cookie: b" }, body: "" })),
    get("/good", () => textResponse(200, "good")),
  ];
  await withRoutes(routes, async ({ port, lines }) => {
    for (const path of ["/sync", "/async"]) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      assert.deepEqual([response.status, await response.text()], [500, "internal error\n"]);
    }
    assert.equal(await exchange(port, "GET /bad HTTP/1.1\r\nhost: x\r\n\r\n"), "");
    assert.deepEqual(lines.map(({ level, msg, path }) => [level, msg, path]), [
      ["error", "a page failed", "/sync"],
      ["error", "a page failed", "/async"],
      ["error", "a response could not be sent", "/bad"],
    ]);
    assert.equal(await (await fetch(`http://127.0.0.1:${port}/good`)).text(), "good");
  });
});

Deno.test("late routes that cannot be loaded are 500 and one log line, the first routes are served, and the next request loads again", async () => {
  let loads = 0;
  const later = () => {
    if (++loads === 1) return Promise.reject(new Error("no file"));
    return Promise.resolve([get("/page", () => textResponse(200, "page"))]);
  };
  await withRoutes([get("/ready", () => textResponse(200, "ready"))], async ({ port, lines }) => {
    const answers: [number, string][] = [];
    for (const path of ["/ready", "/page", "/ready", "/page"]) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      answers.push([response.status, await response.text()]);
    }
    assert.deepEqual(answers, [[200, "ready"], [500, "internal error\n"], [200, "ready"], [200, "page"]]);
    assert.deepEqual(lines.map(({ level, msg, path }) => [level, msg, path]), [["error", "a page failed", "/page"]]);
  }, { later });
});

Deno.test("a body that is too long is 413, however it is announced, and the next request on the connection is served", async () => {
  await withRoutes([echo], async ({ port }) => {
    using client = await RawClient.connect(port);
    await client.write(`POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 11\r\n\r\n${"x".repeat(11)}`);
    await client.until(/413[\s\S]*body: expected at most 10 bytes\n$/);
    client.text = "";
    await client.write("POST /echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
    for (let i = 0; i < 3; i++) await client.write("5\r\nabcde\r\n");
    await client.write("0\r\n\r\n");
    await client.until(/413[\s\S]*body: expected at most 10 bytes\n$/);
    client.text = "";
    await client.write("PUT /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n0123456789");
    await client.until(/200 OK[\s\S]*PUT 0123456789$/);
  });
});

Deno.test("a body without end is not read to its end: 413 when it is 256 KiB too long", async () => {
  await withRoutes([echo], async ({ port }) => {
    using client = await RawClient.connect(port);
    await client.write("POST /echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
    const chunk = `4000\r\n${"x".repeat(0x4000)}\r\n`;
    let sent = 0;
    const writing = (async () => {
      for (;;) {
        await client.write(chunk);
        sent += chunk.length;
      }
    })().catch(() => {});
    assert.match(await client.rest(), /^HTTP\/1\.1 413 /);
    await writing;
    // The content of the kernel's buffers was sent as well.
    assert.ok(sent < 16 * 1024 * 1024, `${sent} bytes were sent`);
  });
});

Deno.test("a client with Expect: 100-continue gets 100, or a refusal before it has sent the body", async () => {
  await withRoutes([echo], async ({ port }) => {
    const head = (length: number) =>
      `POST /echo HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: ${length}\r\n\r\n`;
    using client = await RawClient.connect(port);
    await client.write(head(2));
    await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    await client.write("ab");
    await client.until(/200 OK[\s\S]*POST ab$/);
    const refused = await exchange(port, head(1000));
    assert.match(refused, /^HTTP\/1\.1 413 /);
    assert.doesNotMatch(refused, /100 Continue/);
  });
});

Deno.test("a malformed request is refused with the reason: bytes, heads that are too long, two hosts, a target that is no path", async () => {
  await withRoutes([get("/page", ({ host }) => textResponse(200, host))], async ({ port }) => {
    const cases: [string, RegExp][] = [
      ["\x16\x03\x01\x02\x00\x01\r\n\r\n", /^HTTP\/1\.1 400 [\s\S]*this is not an HTTP\/1 request/],
      [`GET /page HTTP/1.1\r\nhost: x\r\na: ${"x".repeat(17 * 1024)}\r\n\r\n`, /^HTTP\/1\.1 431 [\s\S]*too long/],
      ["GET /page HTTP/1.1\r\nhost: a\r\nhost: b\r\nconnection: close\r\n\r\n", /^HTTP\/1\.1 400 [\s\S]*host: got 2/],
      ["GET /page HTTP/1.1\r\nconnection: close\r\n\r\n", /^HTTP\/1\.1 400 /],
      [
        "POST /page HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        /^HTTP\/1\.1 400 /,
      ],
      ["GET page HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n", /^HTTP\/1\.1 400 /],
      ["GET /%zz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n", /^HTTP\/1\.1 400 /],
      // The target says more than the header.
      ["GET http://other:1/page?x HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n", /200 OK[\s\S]*other:1$/],
      ["GET /page HTTP/1.0\r\n\r\n", /200 OK[\s\S]*\r\n\r\n$/],
    ];
    for (const [bytes, expected] of cases) assert.match(await exchange(port, bytes), expected, bytes.slice(0, 60));
  });
});

Deno.test("requests that come at once on one connection are answered one after the other; more than 16 end it", async () => {
  let running = 0;
  let most = 0;
  const route = get("/:n", async ({ params }) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 0));
    running--;
    return textResponse(200, `<${params["n"]}>`);
  });
  await withRoutes([route], async ({ port }) => {
    const requests = (count: number) =>
      Array.from({ length: count }, (_, i) => `GET /${i} HTTP/1.1\r\nhost: x\r\n\r\n`).join("");
    using client = await RawClient.connect(port);
    await client.write(requests(16));
    await client.until(/<15>$/);
    assert.deepEqual(
      [...client.text.matchAll(/<(\d+)>/g)].map(([, n]) => Number(n)),
      Array.from({ length: 16 }, (_, i) => i),
    );
    assert.equal(most, 1);
    assert.equal((await exchange(port, requests(1000))).includes("<20>"), false);
  });
});

Deno.test("the signal of a request aborts when its client goes away", async () => {
  const started = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<unknown>();
  const route = get("/wait", ({ signal }) => {
    signal.addEventListener("abort", () => aborted.resolve(signal.reason.message));
    started.resolve();
    return aborted.promise.then(() => textResponse(200, "late"));
  });
  await withRoutes([route], async ({ port, lines }) => {
    {
      using client = await RawClient.connect(port);
      await client.write("GET /wait HTTP/1.1\r\nhost: x\r\n\r\n");
      await started.promise;
    }
    assert.equal(await aborted.promise, "the client has gone away");
    assert.deepEqual(lines, []);
  });
});

Deno.test("a large response arrives whole, and a reader of parts slows its sender down", async () => {
  const body = crypto.getRandomValues(new Uint8Array(60_000)).reduce(
    (text, byte) => text + String(byte).padStart(200),
    "",
  );
  await withRoutes([get("/large", () => textResponse(200, body))], async ({ port }) => {
    assert.equal(await (await fetch(`http://127.0.0.1:${port}/large`)).text(), body);
  });
});

Deno.test("closing ends idle connections at once, lets running requests end, and breaks off requests that take too long", async () => {
  const clock = createFakeClock();
  const [slows, nevers, stopping, finish] = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const routes = [
    get("/slow", async () => {
      slows!.resolve();
      await finish!.promise;
      return textResponse(200, "slow");
    }),
    get("/never", () => {
      nevers!.resolve();
      return new Promise<never>(() => {});
    }),
    get("/stops", ({ signal }) => {
      stopping!.resolve();
      return new Promise((resolve) =>
        signal.addEventListener("abort", () => resolve(textResponse(503, signal.reason.message)))
      );
    }),
    get("/quick", () => textResponse(200, "quick")),
  ];
  await withRoutes(routes, async ({ server, port }) => {
    const client = async (path: string) => {
      const raw = await RawClient.connect(port);
      await raw.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
      return raw;
    };
    using idle = await client("/quick");
    await idle.until(/quick$/);
    using never = await client("/never");
    using stops = await client("/stops");
    using slow = await client("/slow");
    await Promise.all([slows!.promise, nevers!.promise, stopping!.promise]);
    const closed = server.close(300);
    assert.match(await stops.rest(), /503[\s\S]*the server closes$/);
    assert.match(await idle.rest(), /quick$/);
    finish!.resolve();
    assert.match(await slow.rest(), /connection: close[\s\S]*slow$/i);
    await clock.advance(300);
    assert.equal(await never.rest(), "");
    await closed;
    await assert.rejects(RawClient.connect(port), Deno.errors.ConnectionRefused);
  }, { clock });
});
