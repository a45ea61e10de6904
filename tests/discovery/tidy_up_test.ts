import assert from "node:assert/strict";
import { tidyUp } from "../../lib/discovery/tidy_up.ts";

const rest = () => Promise.resolve();
const quiet = { activity: () => 0, load: () => Promise.resolve() };

Deno.test("memory is given back once the work of a start is over, not before", async () => {
  const work = Promise.withResolvers<void>();
  const events: string[] = [];
  const tidied = tidyUp({
    done: () => work.promise,
    isBusy: () => false,
    giveBack: () => void events.push("given back"),
    activity: () => 0,
    load: () => {
      events.push("loaded");
      return Promise.resolve();
    },
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
  assert.deepEqual(events, ["analyzed", "rest", "loaded", "given back"]);
});

Deno.test("a proxy that came while the mesh was analyzed does not wait for a collection", async () => {
  let proxies = 0;
  let count = 0;
  const done = () => {
    proxies = 1;
    return Promise.resolve();
  };
  await tidyUp({ ...quiet, done, isBusy: () => proxies > 0, giveBack: () => void count++, rest });
  assert.equal(count, 0);
});

Deno.test("a server that is stopped before it rests gives nothing back", async () => {
  let count = 0;
  const stopped = () => Promise.reject(new Error("stopped"));
  const done = () => Promise.resolve();
  await tidyUp({ ...quiet, done, isBusy: () => false, giveBack: () => void count++, rest: stopped });
  assert.equal(count, 0);
});

Deno.test("modules are loaded in the first rest without work for clients; memory does not wait for that", async () => {
  const events: string[] = [];
  const done = () => Promise.resolve();
  const pushes = [0, 1, 1, 2, 2, 2];
  await tidyUp({
    ...{ done, isBusy: () => false, giveBack: () => void events.push("given back") },
    activity: () => pushes.shift()!,
    rest: () => {
      events.push("rest");
      return Promise.resolve();
    },
    load: () => {
      events.push("loaded");
      return Promise.resolve();
    },
  });
  assert.deepEqual(events, ["rest", "given back", "rest", "rest", "loaded"]);
});

Deno.test("a server that is stopped before a quiet rest loads nothing", async () => {
  let [at, rests] = [0, 0];
  const load = () => Promise.reject(new Error("loaded"));
  const stopped = () => ++rests < 4 ? Promise.resolve() : Promise.reject(new Error("stopped"));
  const done = () => Promise.resolve();
  await tidyUp({ done, isBusy: () => false, giveBack: () => {}, rest: stopped, activity: () => at++, load });
  assert.equal(rests, 4);
});
