import assert from "node:assert/strict";
import { waitOptions, waitUntilReady } from "../../cmd/pilot-agent/wait.ts";
import { UsageError } from "../../lib/cli/command.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { PATIENCE } from "../patience.ts";

const options = {
  url: new URL("http://localhost:15021/healthz/ready"),
  period: 500,
  requestTimeout: 100,
  timeout: 2000,
};

Deno.test("the first attempt comes after one period, and only 200 is ready", async () => {
  const clock = createFakeClock();
  const at: number[] = [];
  const answers = [503, 204, 200];
  const waiting = waitUntilReady(options, clock, () => {
    at.push(clock.monotonic());
    return Promise.resolve(answers[at.length - 1] ?? 0);
  });
  await clock.advance(1500);
  await waiting;
  assert.deepEqual(at, [500, 1000, 1500]);
});

Deno.test("when the time is over the last cause is reported", async () => {
  const clock = createFakeClock();
  let n = 0;
  const waiting = waitUntilReady(
    options,
    clock,
    () => n++ === 0 ? Promise.resolve(503) : Promise.reject(new Error("refused")),
  );
  const outcome = assert.rejects(
    waiting,
    (e: unknown) => e instanceof UsageError && /was not ready within 2 s; last answer: refused/.test(e.message),
  );
  await clock.advance(10_000);
  await outcome;
  assert.equal(n, 3);
});

Deno.test("a real server that becomes ready ends the wait", async () => {
  let asked = 0;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response("", { status: ++asked < 3 ? 503 : 200 }),
  );
  await waitUntilReady({
    url: new URL(`http://127.0.0.1:${server.addr.port}/`),
    period: 1,
    requestTimeout: PATIENCE,
    timeout: PATIENCE,
  });
  assert.equal(asked, 3);
  await server.shutdown();
});

Deno.test("bad options are named at once", () => {
  const flags = { periodMillis: 0, requestTimeoutMillis: -1, timeoutSeconds: 1, url: "localhost:15021" };
  assert.throws(
    () => waitOptions(flags),
    (e: unknown) => e instanceof UsageError && e.message.split("\n").length === 3,
  );
});
