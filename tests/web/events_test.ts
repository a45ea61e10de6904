/** Live parts: made once whatever the number of viewers, and not at all while nobody looks. */
import assert from "node:assert/strict";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { LiveEvents, MAX_VIEWERS } from "../../lib/web/events.ts";

/** A part under the test's control. */
function changing() {
  const state = { revision: 0, text: "a", asked: 0 };
  const part = {
    event: "part",
    revision: () => {
      state.asked++;
      return String(state.revision);
    },
    text: () => state.text,
  };
  return { state, part };
}

/** A viewer; `next` is the next event after the first event, which tells how long to wait after a break. */
async function viewer(events: LiveEvents, signal: AbortSignal) {
  const parts = events.view(signal)![Symbol.asyncIterator]();
  assert.equal((await parts.next()).value, "retry: 3000\n\n");
  return { next: async () => (await parts.next()).value as string | undefined };
}

Deno.test("ten viewers cost as much as one: each text is made once", async () => {
  const clock = createFakeClock();
  const { state, part } = changing();
  const events = new LiveEvents([part], clock);
  const stop = new AbortController();
  const viewers = await Promise.all(Array.from({ length: 10 }, () => viewer(events, stop.signal)));
  for (const one of viewers) assert.equal(await one.next(), "event: part\ndata: a\n\n");
  assert.equal(events.made, 1);
  const asked = state.asked;
  state.revision++;
  state.text = "b\nc";
  await clock.advance(500);
  for (const one of viewers) assert.equal(await one.next(), "event: part\ndata: b\ndata: c\n\n");
  assert.deepEqual([events.made, state.asked - asked], [2, 1]);
  stop.abort();
  for (const one of viewers) assert.equal(await one.next(), undefined);
  assert.equal(events.size, 0);
});

Deno.test("nothing is asked while nobody looks, nor sent while nothing changes but a sign of life", async () => {
  const clock = createFakeClock();
  const { state, part } = changing();
  const events = new LiveEvents([part], clock);
  await clock.advance(10_000);
  assert.equal(state.asked, 0);
  const stop = new AbortController();
  const one = await viewer(events, stop.signal);
  await one.next();
  state.revision++; // Another revision, the same text.
  const next = one.next();
  await clock.advance(15_000);
  assert.equal(await next, ":\n\n");
  stop.abort();
  await one.next();
  await clock.advance(1000);
  const { asked } = state;
  await clock.advance(10_000);
  assert.equal(state.asked, asked);
});

Deno.test("a viewer that takes nothing gets the latest later, not all", async () => {
  const clock = createFakeClock();
  const { state, part } = changing();
  const events = new LiveEvents([part], clock);
  const stop = new AbortController();
  const slow = await viewer(events, stop.signal);
  for (const text of ["b", "c", "d"]) {
    Object.assign(state, { text, revision: state.revision + 1 });
    await clock.advance(500);
  }
  assert.equal(await slow.next(), "event: part\ndata: d\n\n");
  stop.abort();
});

Deno.test("viewers are bounded, and whoever goes makes room", async () => {
  const events = new LiveEvents([changing().part], createFakeClock());
  const first = new AbortController();
  const rest = new AbortController();
  const one = await viewer(events, first.signal);
  for (let i = 1; i < MAX_VIEWERS; i++) await viewer(events, rest.signal);
  assert.equal(events.view(rest.signal), undefined);
  first.abort();
  await one.next();
  await one.next();
  assert.equal(events.size, MAX_VIEWERS - 1);
  rest.abort();
});
