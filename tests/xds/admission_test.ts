import assert from "node:assert/strict";
import { Admission, defaultAdmissionRate, type Waiting } from "../../lib/xds/admission.ts";

/** Time that moves by hand, from timer to timer. */
class ManualTime {
  at = 0;
  readonly #timers: { at: number; fire: () => void }[] = [];
  now = () => this.at;
  after = (ms: number, fire: () => void) => void this.#timers.push({ at: this.at + ms, fire });

  advance(to: number): void {
    for (;;) {
      const due = this.#timers.toSorted((a, b) => a.at - b.at)[0];
      if (due === undefined || due.at > to) break;
      this.#timers.splice(this.#timers.indexOf(due), 1);
      this.at = due.at;
      due.fire();
    }
    this.at = to;
  }
}

class Stream implements Waiting {
  state: "waits" | "admitted" | "refused" = "waits";
  admit = () => void (this.state = "admitted");
  refuse = () => void (this.state = "refused");
}

Deno.test("beside a connection that opens and leaves all the time, 23 of 23 others are admitted within a second", () => {
  const time = new ManualTime();
  const admission = new Admission(100, time);
  const attacker = {};
  const others = Array.from({ length: 23 }, () => new Stream());
  for (let ms = 0; ms < 5000; ms += 5) {
    const burst = Array.from({ length: 20 }, () => new Stream());
    for (const stream of burst) admission.request(attacker, stream);
    for (const stream of burst.slice(10)) admission.leave(attacker, stream);
    if (ms === 4000) { for (const other of others) admission.request({}, other); }
    time.advance(ms);
  }
  assert.deepEqual(others.map(({ state }) => state), others.map(() => "admitted"));
});

Deno.test("a stream that ends while it waits gives its place back, and one too many of the longest queue is refused", () => {
  const time = new ManualTime();
  const admission = new Admission(10, time);
  const greedy = {};
  const streams = Array.from({ length: 111 }, () => new Stream());
  for (const stream of streams) admission.request(greedy, stream);
  assert.equal(admission.waiting, 100);
  const late = new Stream();
  admission.request({}, late);
  assert.deepEqual([late.state, streams.at(-1)!.state, admission.waiting], ["waits", "refused", 100]);
  for (const stream of streams) admission.leave(greedy, stream);
  assert.equal(admission.waiting, 1);
  time.advance(200);
  assert.equal(late.state, "admitted");
});

Deno.test("after a quiet second a second's worth of streams is admitted at once, the rest at the rate, in order", () => {
  const time = new ManualTime();
  const admission = new Admission(10, time);
  const connection = {};
  const streams = Array.from({ length: 15 }, () => new Stream());
  for (const stream of streams) admission.request(connection, stream);
  const admitted = () => streams.filter(({ state }) => state === "admitted").length;
  assert.equal(admitted(), 11);
  time.advance(201);
  assert.equal(admitted(), 13);
  time.advance(1000);
  assert.equal(admitted(), 15);
});

Deno.test("400 proxies at once are all admitted within two seconds by the default rate", () => {
  const time = new ManualTime();
  const admission = new Admission(defaultAdmissionRate(2), time);
  const streams = Array.from({ length: 400 }, () => new Stream());
  for (const stream of streams) admission.request({}, stream);
  time.advance(2000);
  assert.ok(streams.every(({ state }) => state === "admitted"));
});
