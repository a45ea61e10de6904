/** Costly answers take turns with all other work of a server. */
import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { inTurns } from "../../lib/http/in_turns.ts";
import { type HttpRequest, textResponse } from "../../lib/http/message.ts";
import type { Route } from "../../lib/http/route.ts";

const request = (signal = new AbortController().signal) => ({ signal }) as HttpRequest;

Deno.test("the event loop turns between two answers, of whichever routes", async () => {
  const seen: string[] = [];
  const route = (path: string): Route => ({
    ...{ methods: ["GET"], path },
    handle: () => (seen.push(path), textResponse(200, path)),
  });
  const routes = inTurns([route("/a"), route("/b")], () => {
    seen.push("turn");
    return Promise.resolve();
  });
  await Promise.all([0, 1, 0].map((index) => routes[index]!.handle(request())));
  assert.deepEqual(seen, ["turn", "/a", "turn", "/b", "turn", "/a"]);
});

Deno.test("a hundred answers that are asked for at once let a timer in", async () => {
  let answered = 0;
  const [route] = inTurns([{ methods: ["GET"], path: "/", handle: () => (answered++, textResponse(200, "")) }]);
  const all = Array.from({ length: 100 }, () => route!.handle(request()));
  const before = await new Promise<number>((resolve) => setImmediate(() => resolve(answered)));
  await Promise.all(all);
  assert(before <= 2, `${before} were answered before`);
  assert.equal(answered, 100);
});

Deno.test("a client that has gone before its turn costs no answer, and a failing client delays no other client", async () => {
  const gone = new AbortController();
  let answered = 0;
  const handle = () => {
    if (++answered === 1) throw new Error("it failed");
    return textResponse(200, "");
  };
  const [route] = inTurns([{ methods: ["GET"], path: "/", handle }]);
  const answers = [route!.handle(request()), route!.handle(request(gone.signal)), route!.handle(request())];
  gone.abort();
  const [failed, left, good] = await Promise.allSettled(answers);
  assert.equal(failed!.status, "rejected");
  assert.equal(left?.status === "fulfilled" && left.value.status, 503);
  assert.equal(good?.status === "fulfilled" && good.value.status, 200);
  assert.equal(answered, 2);
});
