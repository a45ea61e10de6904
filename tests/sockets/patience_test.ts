import assert from "node:assert/strict";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { remoteDeadline, RemoteTime } from "../../lib/sockets/patience.ts";

/** A clock whose timers wait while the process is held up. */
class HeldUpClock {
  ms = 0;
  #timers: { readonly at: number; readonly fire: () => void }[] = [];
  readonly monotonic = () => this.ms;

  after(ms: number, fire: () => void): () => void {
    const timer = { at: this.ms + ms, fire };
    this.#timers.push(timer);
    return () => void (this.#timers = this.#timers.filter((each) => each !== timer));
  }

  get pending(): number {
    return this.#timers.length;
  }

  /** Nothing runs for so long; then due timers fire, once. */
  holdUp(ms: number): void {
    this.ms += ms;
    const due = this.#timers.filter(({ at }) => at <= this.ms);
    this.#timers = this.#timers.filter(({ at }) => at > this.ms);
    for (const { fire } of due) fire();
  }
}

Deno.test("the time of remote ends is that of the clock while the event loop turns", () => {
  let ms = 5;
  const time = new RemoteTime(2000, () => ms);
  for (let i = 0; i < 20; i++) {
    ms += 1500;
    assert.equal(time.now, ms);
    assert.ok(time.tick());
    assert.equal(time.now, ms);
  }
});

Deno.test("of a minute in which the process is held up two seconds count, and no client is judged by the first look", () => {
  let ms = 0;
  const time = new RemoteTime(2000, () => ms);
  ms = 60_000;
  assert.equal(time.now, 2000);
  assert.equal(time.tick(), false);
  assert.equal(time.now, 2000);
  ms += 1000;
  assert.equal(time.tick(), true);
  assert.equal(time.now, 3000);
});

Deno.test("a process that is held up all the time judges every other time", () => {
  let ms = 0;
  const time = new RemoteTime(2000, () => ms);
  const judged: boolean[] = [];
  for (let i = 0; i < 4; i++) {
    ms += 60_000;
    judged.push(time.tick());
  }
  assert.deepEqual([judged, time.now], [[false, true, false, true], 8000]);
});

Deno.test("a deadline passes on time, once, and not when it is called off", async () => {
  const clock = createFakeClock();
  const late: string[] = [];
  remoteDeadline(10_000, () => late.push("passes"), clock);
  const inTime = remoteDeadline(10_000, () => late.push("called off"), clock);
  await clock.advance(9999);
  assert.deepEqual(late, []);
  inTime();
  await clock.advance(1);
  assert.deepEqual([late, clock.pending()], [["passes"], 0]);
  inTime();
});

Deno.test("a hold-up of the server passes no deadline: bytes that came in time are read first", () => {
  for (const before of [0, 5, 9]) {
    const clock = new HeldUpClock();
    let late = false;
    const inTime = remoteDeadline(10_000, () => late = true, clock);
    for (let i = 0; i < before; i++) clock.holdUp(1000);
    clock.holdUp(60_000);
    assert.equal(late, false, `held up after ${before} s`);
    inTime();
    assert.equal(clock.pending, 0);
  }
});

Deno.test("a deadline passes in the end, however often the process is held up", () => {
  const clock = new HeldUpClock();
  let late = 0;
  remoteDeadline(10_000, () => late++, clock);
  for (let i = 0; i < 10; i++) clock.holdUp(60_000);
  assert.deepEqual([late, clock.pending], [1, 0]);
});
