import assert from "node:assert/strict";
import { tidyUp } from "../../lib/discovery/tidy_up.ts";

const rest = () => Promise.resolve();

Deno.test("memory is given back once the work of a start is over, not before", async () => {
  const work = Promise.withResolvers<void>();
  const events: string[] = [];
  const tidied = tidyUp({
    done: () => work.promise,
    isBusy: () => false,
    giveBack: () => void events.push("given back"),
    rest: () => {
      events.push("rest");
      return Promise.resolve();
    },
  });
  await Promise.resolve();
  assert.equal(events.length, 0);
  events.push("analyzed");
  work.resolve();
  await tidied;
  assert.deepEqual(events, ["analyzed", "rest", "given back"]);
});

Deno.test("a proxy that came while the mesh was analyzed does not wait for a collection", async () => {
  let proxies = 0;
  let count = 0;
  const done = () => {
    proxies = 1;
    return Promise.resolve();
  };
  await tidyUp({ done, isBusy: () => proxies > 0, giveBack: () => void count++, rest });
  assert.equal(count, 0);
});

Deno.test("a server that is stopped before it rests gives nothing back", async () => {
  let count = 0;
  const stopped = () => Promise.reject(new Error("stopped"));
  const done = () => Promise.resolve();
  await tidyUp({ done, isBusy: () => false, giveBack: () => void count++, rest: stopped });
  assert.equal(count, 0);
});
