/** Long work lets requests in, and not signals and timers alone. */
import assert from "node:assert/strict";
import { oneTurn, paced, SLICE_MS } from "../../../lib/kernel/time/paced.ts";

Deno.test("a request is answered within few turns of work that goes on", async () => {
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => new Response("ready"));
  const url = `http://127.0.0.1:${server.addr.port}/`;
  // The first request makes the shared parts of later requests.
  await (await fetch(url)).text();
  let turns = 0, over = false, now = 0;
  const work = function* () {
    while (!over) yield;
  };
  const paces = paced(work(), {
    now: () => now += SLICE_MS,
    turn: () => (turns++, oneTurn()),
  });
  const before = turns;
  assert.equal(await (await fetch(url)).text(), "ready");
  const passed = turns - before;
  over = true;
  await paces;
  assert(passed < 60, `${passed} turns`);
});
