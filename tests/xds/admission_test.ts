import assert from "node:assert/strict";
import fc from "fast-check";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import {
  Admission,
  defaultAdmissionRate,
  MAX_ADMISSION_WAIT,
  MAX_WAITING_STREAMS,
  type WaitingStream,
} from "../../lib/xds/admission.ts";
import { addressGroup } from "../../lib/sockets/transport/address_group.ts";
import { runs } from "../properties.ts";

class Stream implements WaitingStream {
  readonly calls: ("admitted" | "refused")[] = [];
  admit = () => void this.calls.push("admitted");
  refuse = () => void this.calls.push("refused");

  get state(): string {
    return this.calls.join() || "waits";
  }
}

const streamsOf = (count: number) => Array.from({ length: count }, () => new Stream());
const count = (streams: readonly Stream[], state: string) => streams.filter((stream) => stream.state === state).length;

Deno.test("beside a client that opens and leaves all the time, 23 of 23 others are admitted within a second", async () => {
  const clock = createFakeClock();
  const admission = new Admission(100, clock);
  const others = streamsOf(23);
  let served = 0;
  for (let ms = 0; ms < 2000; ms += 5) {
    const burst = streamsOf(20);
    for (const stream of burst) admission.request("attacker", stream);
    for (const stream of burst.slice(10)) admission.leave(stream);
    if (ms === 1000) { for (const [i, other] of others.entries()) admission.request(i, other); }
    await clock.advance(5);
    served = count(others, "admitted");
  }
  assert.equal(served, 23);
});

Deno.test("4,000 connections of one address do not fill the queue before others: 23 of 23 are admitted within a second", async () => {
  const clock = createFakeClock();
  const admission = new Admission(400, clock);
  const flood = streamsOf(4400);
  for (const stream of flood) admission.request({}, stream, "192.0.2.1");
  assert.equal(admission.waiting, 3999);
  const others = streamsOf(23);
  for (const [i, other] of others.entries()) admission.request({}, other, i < 20 ? "192.0.2.2" : `198.51.100.${i}`);
  for (let ms = 0; ms < 1000; ms += 5) {
    // Whoever is admitted comes again at once.
    for (const stream of streamsOf(4)) admission.request({}, stream, "192.0.2.1");
    await clock.advance(5);
  }
  assert.deepEqual([count(others, "admitted"), count(others, "refused")], [23, 0]);
});

Deno.test("3,000 clients behind one address are all admitted while there is room, beside 900 that have one each", async () => {
  const clock = createFakeClock();
  const admission = new Admission(400, clock);
  const balanced = streamsOf(3000);
  const direct = streamsOf(900);
  for (const stream of balanced) admission.request({}, stream, "load balancer");
  for (const [i, stream] of direct.entries()) admission.request({}, stream, i);
  await clock.advance(1000);
  assert.ok(
    count(balanced, "admitted") > 400 + 15,
    "they are not served as one client, beside those of the first second",
  );
  await clock.advance(MAX_ADMISSION_WAIT - 1000);
  assert.deepEqual([count(balanced, "admitted"), count(direct, "admitted")], [3000, 900]);
});

Deno.test("in a full queue one client with many streams loses its newest, not one of the many clients of an address", () => {
  const admission = new Admission(100, createFakeClock());
  const greedy = streamsOf(101 + 300);
  for (const stream of greedy) admission.request("greedy", stream);
  const balanced = streamsOf(700);
  for (const stream of balanced) admission.request({}, stream, "load balancer");
  assert.deepEqual([admission.waiting, count(greedy, "refused"), count(balanced, "refused")], [1000, 0, 0]);
  for (const stream of streamsOf(50)) admission.request({}, stream, "load balancer");
  assert.deepEqual([count(greedy, "refused"), count(balanced, "refused")], [50, 0]);
});

Deno.test("addresses are distinguished without their ports; IPv6 addresses of one network count as one", () => {
  const groups = {
    "192.0.2.1:1": "address 192.0.2.1",
    "::ffff:192.0.2.1:2": "address 192.0.2.1",
    "2001:db8:1:2:3:4:5:6:7": "address 2001:db8:1:2::/64",
    "2001:db8::1:443": "address 2001:db8:0:0::/64",
    "::1:443": "address 0:0:0:0::/64",
    "/run/a:b/socket": "address /run/a:b/socket",
    "memory": "address memory",
  };
  assert.deepEqual(Object.keys(groups).map(addressGroup), Object.values(groups));
});

Deno.test("streams that leave before they are admitted cost the others no place", async () => {
  const clock = createFakeClock();
  const admission = new Admission(10, clock);
  for (const stream of streamsOf(11)) admission.request("first", stream);
  const leaving = streamsOf(100);
  for (const stream of leaving) admission.request("leaves", stream);
  assert.equal(admission.waiting, 100);
  for (const stream of leaving) admission.leave(stream);
  assert.equal(admission.waiting, 0);
  assert.equal(clock.pending(), 0);
  const stays = new Stream();
  admission.request("stays", stays);
  await clock.advance(100);
  assert.equal(stays.state, "admitted");
  assert.equal(count(leaving, "waits"), 100);
});

Deno.test("ten seconds' worth of streams wait at most, and one more costs the client with most of them its newest", () => {
  const admission = new Admission(10, createFakeClock());
  const greedy = streamsOf(111);
  for (const stream of greedy) admission.request("greedy", stream);
  assert.equal(admission.waiting, 100);
  const other = new Stream();
  admission.request("other", other);
  assert.deepEqual([other.state, greedy.at(-1)!.state, admission.waiting], ["waits", "refused", 100]);
  const tooMany = new Stream();
  admission.request("greedy", tooMany);
  assert.deepEqual([tooMany.state, admission.waiting], ["refused", 100]);
});

Deno.test("at a high rate too the number of streams that wait is bounded", () => {
  const admission = new Admission(100_000, createFakeClock());
  const streams = streamsOf(100_001 + MAX_WAITING_STREAMS + 5);
  for (const stream of streams) admission.request({}, stream);
  assert.deepEqual([admission.waiting, count(streams, "refused")], [MAX_WAITING_STREAMS, 5]);
});

Deno.test("a stream that has waited for 10 s is refused, also when the next admission is far", async () => {
  const clock = createFakeClock();
  const admission = new Admission(0.01, clock);
  const [first, second] = [new Stream(), new Stream()];
  admission.request("a", first);
  admission.request("b", second);
  await clock.advance(MAX_ADMISSION_WAIT - 1);
  assert.deepEqual([first.state, second.state], ["admitted", "waits"]);
  await clock.advance(1);
  assert.deepEqual([second.state, admission.waiting, clock.pending()], ["refused", 0, 0]);
});

Deno.test("a client whose streams are delayed by others for 10 s is refused, and the others are admitted", async () => {
  const clock = createFakeClock();
  const admission = new Admission(10, clock);
  const greedy = streamsOf(111);
  for (const stream of greedy) admission.request("greedy", stream);
  const others = streamsOf(50);
  for (const [i, other] of others.entries()) admission.request(i, other);
  await clock.advance(MAX_ADMISSION_WAIT + 200);
  assert.equal(count(others, "admitted"), 50);
  assert.deepEqual([count(greedy, "admitted"), count(greedy, "refused"), admission.waiting], [61, 50, 0]);
});

Deno.test("after a quiet second a second's worth of streams is admitted at once, the rest at the rate, in order", async () => {
  const clock = createFakeClock();
  const admission = new Admission(10, clock);
  const streams = streamsOf(15);
  for (const stream of streams) admission.request("client", stream);
  assert.equal(count(streams, "admitted"), 11);
  await clock.advance(200);
  assert.deepEqual(streams.slice(11).map(({ state }) => state), ["admitted", "admitted", "waits", "waits"]);
  await clock.advance(200);
  assert.equal(count(streams, "admitted"), 15);
});

Deno.test("400 proxies at once are all admitted within two seconds by the default rate", async () => {
  const clock = createFakeClock();
  const admission = new Admission(defaultAdmissionRate(2), clock);
  const streams = streamsOf(400);
  for (const stream of streams) admission.request({}, stream);
  await clock.advance(2000);
  assert.equal(count(streams, "admitted"), 400);
});

/** A clock whose only timer fires on the test's command, however late. */
class LateTimer {
  now = 0;
  #fire = () => {};
  readonly monotonic = () => this.now;

  after(_ms: number, fire: () => void): () => void {
    this.#fire = fire;
    return () => {};
  }

  /** So much time passes, and then the timer comes. */
  fireAfter(ms: number): void {
    this.now += ms;
    this.#fire();
  }
}

Deno.test("a backlog of admissions is worked off in pieces, so that the event loop gets its turn", () => {
  const clock = new LateTimer();
  const admission = new Admission(1000, clock);
  const streams = streamsOf(2001);
  for (const stream of streams) admission.request({}, stream);
  assert.equal(count(streams, "admitted"), 1001);
  clock.fireAfter(1000);
  assert.equal(count(streams, "admitted"), 1001 + 64);
});

Deno.test("streams that wait while the server is held up are not refused for it", () => {
  for (const before of [0, 9]) {
    const clock = new LateTimer();
    const admission = new Admission(10, clock);
    const streams = streamsOf(11 + 100);
    for (const stream of streams) admission.request({}, stream);
    for (let second = 0; second < before; second++) clock.fireAfter(1000);
    clock.fireAfter(60_000);
    assert.equal(count(streams, "refused"), 0, `held up after ${before} s`);
    for (let looks = 0; admission.waiting > 0 && looks < 20; looks++) clock.fireAfter(1000);
    assert.equal(admission.waiting, 0, "in the end each is admitted or refused");
  }
});

Deno.test("in any order of coming, leaving and time each stream gets one verdict, and none after it has left", async () => {
  const action = fc.oneof(
    fc.record({ client: fc.nat(3), streams: fc.integer({ min: 1, max: 40 }) }),
    fc.record({ leave: fc.nat(200) }),
    fc.record({ ms: fc.integer({ min: 0, max: 3000 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 15 }), async (actions) => {
      const clock = createFakeClock();
      const admission = new Admission(5, clock);
      const all: Stream[] = [];
      const left = new Set<Stream>();
      for (const step of actions) {
        if ("ms" in step) await clock.advance(step.ms);
        else if ("leave" in step) {
          const stream = all[step.leave];
          if (stream?.state === "waits") left.add(stream);
          if (stream !== undefined) admission.leave(stream);
        } else {
          for (const stream of streamsOf(step.streams)) {
            all.push(stream);
            admission.request(step.client, stream, step.client % 2 === 0 ? step.client : "both");
          }
        }
        assert.ok(all.every(({ calls }) => calls.length <= 1));
        assert.equal(admission.waiting, count(all, "waits") - left.size);
        assert.ok(admission.waiting <= 50);
        assert.equal(clock.pending(), admission.waiting > 0 ? 1 : 0);
      }
      await clock.advance(MAX_ADMISSION_WAIT);
      assert.equal(count(all, "waits"), left.size);
      assert.equal(clock.pending(), 0);
    }),
    { numRuns: runs(30) },
  );
});
