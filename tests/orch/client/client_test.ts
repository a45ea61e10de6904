/** Requests to the orchestrator's API: rate, deadlines, refusals, credentials, TLS. */
import assert from "node:assert/strict";
import net from "node:net";
import { createLog, defaultLogOptions } from "../../../lib/kernel/log/log.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import type { ApiAccess } from "../../../lib/orch/client/access.ts";
import { ApiError, retryAfterMs } from "../../../lib/orch/client/api_error.ts";
import { ApiClient } from "../../../lib/orch/client/client.ts";
import { openExchange } from "../../../lib/orch/client/exchange.ts";
import { TokenBucket } from "../../../lib/orch/client/token_bucket.ts";

/** A client of one handler. */
function clientOf(
  answer: (url: string, init: RequestInit) => Promise<Response>,
  access: Partial<ApiAccess> = {},
  refused = () => {},
) {
  return new ApiClient({
    access: { current: () => ({ server: "https://api", ...access }), refused },
    exchange: answer,
    within: 200,
  });
}

Deno.test("requests go at once up to the burst, then at the rate, in the order in which they asked", async () => {
  const clock = createFakeClock();
  const bucket = new TokenBucket(10, 3, clock);
  const went: number[] = [];
  for (let i = 0; i < 6; i++) void bucket.take().then(() => went.push(i));
  await clock.advance(0);
  assert.deepEqual(went, [0, 1, 2]);
  await clock.advance(100);
  assert.deepEqual(went, [0, 1, 2, 3]);
  await clock.advance(200);
  assert.deepEqual(went, [0, 1, 2, 3, 4, 5]);
  await clock.advance(10_000);
  for (let i = 6; i < 12; i++) void bucket.take().then(() => went.push(i));
  await clock.advance(0);
  assert.equal(went.length, 9, "a quiet time gives the burst again, and no more");
});

Deno.test("a caller that gives up waiting takes nobody's turn; a rate of 0 means no limit", async () => {
  const clock = createFakeClock();
  const bucket = new TokenBucket(1, 1, clock);
  await bucket.take();
  const stop = new AbortController();
  const waiting = bucket.take(stop.signal);
  stop.abort(new Error("given up"));
  await assert.rejects(waiting, /given up/);
  const next = bucket.take();
  await clock.advance(1000);
  assert.equal(await next, 1000);
  const free = new TokenBucket(0, 0, clock);
  for (let i = 0; i < 100; i++) assert.equal(await free.take(), 0);
});

Deno.test("the wait for a silent server ends; a refusal has its reason and the time until the next try", async () => {
  const hangs = clientOf((_url, { signal }) =>
    new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)))
  );
  await assert.rejects(
    hangs.json({ path: "/x" }),
    (e) => e instanceof ApiError && e.transient && /GET \/x: no answer within 0.2 s/.test(e.message),
  );
  const busy = clientOf(() =>
    Promise.resolve(Response.json({ message: "slow down" }, { status: 429, headers: { "retry-after": "7" } }))
  );
  await assert.rejects(
    busy.json({ path: "/x" }),
    (e) => e instanceof ApiError && e.status === 429 && e.retryAfter === 7000 && /slow down/.test(e.message),
  );
  const silentBody = new ReadableStream<Uint8Array>({});
  const silent = clientOf(() => Promise.resolve(new Response(silentBody, { status: 500 })));
  await assert.rejects(silent.json({ path: "/x" }), (e) => e instanceof ApiError && e.status === 500);
});

Deno.test("Retry-After is seconds or a date, at most two minutes; other texts are ignored", () => {
  const now = Date.UTC(2026, 0, 1);
  const read = (text: string | null) => retryAfterMs(text, now);
  assert.deepEqual([read("3"), read("0"), read("-4"), read("86400")], [3000, 0, 0, 120_000]);
  assert.equal(read("Thu, 01 Jan 2026 00:00:10 GMT"), 10_000);
  assert.deepEqual([read(null), read(""), read("soon")], [undefined, undefined, undefined]);
});

Deno.test("a missing object is undefined; a refusal of credentials is reported to the access; impersonation is sent", async () => {
  assert.equal(await clientOf(() => Promise.resolve(new Response("{}", { status: 404 }))).get("/x"), undefined);
  let refused = 0;
  const denied = clientOf(() => Promise.resolve(new Response("", { status: 401 })), {}, () => refused++);
  await assert.rejects(denied.get("/x"), (e) => e instanceof ApiError && e.transient);
  assert.equal(refused, 1);
});

Deno.test("each group of a user whom a client impersonates is a header of its own", async () => {
  const lines: string[][] = [];
  const server = net.createServer((socket) => {
    socket.once("data", (data) => {
      lines.push(data.toString().split("\r\n").filter((line) => /^(?:impersonate|authorization)/i.test(line)));
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`;
  const actsAs = { user: "jane", groups: ["a", "b"], uid: "7", extra: { "Scopes/x": ["c", "d"] } };
  const access: ApiAccess = { server: address, authorization: "Bearer t", actsAs };
  const client = new ApiClient({ access: { current: () => access, refused: () => {} } });
  await client.json({ path: "/x" });
  client.close();
  assert.deepEqual(lines.map((each) => each.map((line) => line.toLowerCase()).sort()), [[
    "authorization: bearer t",
    ...["c", "d"].map((value) => `impersonate-extra-scopes%2fx: ${value}`),
    ...["a", "b"].map((group) => `impersonate-group: ${group}`),
    ...["impersonate-uid: 7", "impersonate-user: jane"],
  ]]);
  server.close();
});

Deno.test("each request is one line of the log, without the credentials", async () => {
  const lines: string[] = [];
  const log = createLog(["klog"], { ...defaultLogOptions, levels: new Map([["klog", "debug"]]) }, {
    open: () => ({ write: (bytes) => void lines.push(new TextDecoder().decode(bytes)), close: () => {} }),
  });
  const client = new ApiClient({
    access: { current: () => ({ server: "https://api", authorization: "Bearer secret" }), refused: () => {} },
    exchange: () => Promise.resolve(Response.json({})),
    log: log.scope("klog"),
  });
  await client.get("/api/v1/pods?limit=500");
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /GET \/api\/v1\/pods\?limit=500 200/);
  assert.doesNotMatch(lines[0] ?? "", /secret/);
});

Deno.test("an authority without certificates is refused, and does not count as a missing authority", async () => {
  for (const ca of ["", "\n", "junk"]) {
    await assert.rejects(openExchange({ server: "https://api", ca }), {
      message: "certificate-authority: got a text without certificates, expected certificates in PEM",
    });
  }
});
