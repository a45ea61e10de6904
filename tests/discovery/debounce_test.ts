import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type ChangeEvent,
  Debouncer,
  type MergedChange,
  REAL_TIMERS,
  type Timers,
} from "../../lib/discovery/pipeline/debounce.ts";

/** Time under the control of a test. */
class ManualTime implements Timers {
  at = 0;
  #timers: { at: number; run: () => void }[] = [];
  now = () => this.at;
  after(delay: number, run: () => void): () => void {
    const timer = { at: this.at + delay, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }
  pass(ms: number): void {
    const end = this.at + ms;
    while (true) {
      const next = this.#timers.filter((t) => t.at <= end).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((t) => t !== next);
      this.at = Math.max(this.at, next.at);
      next.run();
    }
    this.at = end;
  }
}

const change = (over: Partial<ChangeEvent> = {}): ChangeEvent => ({
  reason: "config",
  objects: [],
  full: true,
  ...over,
});

function setup(options: { endpoints?: boolean } = {}) {
  const time = new ManualTime();
  const pushes: (MergedChange & { at: number })[] = [];
  const debouncer = new Debouncer({ after: 100, max: 1000, endpoints: options.endpoints ?? true }, (merged) => {
    pushes.push({ ...merged, at: time.at });
  }, time);
  return { time, pushes, debouncer };
}

Deno.test("a single change is pushed after the quiet time", () => {
  const { time, pushes, debouncer } = setup();
  debouncer.add(change());
  time.pass(99);
  assert.equal(pushes.length, 0);
  time.pass(1);
  assert.equal(pushes.length, 1);
});

Deno.test("changes that keep coming are pushed after the maximum time, merged", () => {
  const { time, pushes, debouncer } = setup();
  for (let i = 0; i < 30; i++) {
    debouncer.add(change({ objects: [`o${i % 3}`], reason: i % 4 === 0 ? "config" : "service" }));
    time.pass(50);
  }
  assert.equal(pushes[0]!.at, 1000);
  assert.equal(pushes[0]!.startedAt, 0);
  assert.equal(pushes[0]!.changes, 20);
  assert.deepEqual(Object.fromEntries(pushes[0]!.reasons), { config: 5, service: 15 });
  assert.deepEqual([...pushes[0]!.objects].sort(), ["o0", "o1", "o2"]);
});

Deno.test("changes of endpoints alone go at once when their debouncing is off, others wait", () => {
  const { time, pushes, debouncer } = setup({ endpoints: false });
  debouncer.add(change({ full: false, reason: "endpoint" }));
  assert.equal(pushes.length, 1);
  debouncer.add(change());
  assert.equal(pushes.length, 1);
  time.pass(100);
  assert.equal(pushes.length, 2);
});

Deno.test("an urgent change of endpoints passes a change that waits, without delaying it", () => {
  const { time, pushes, debouncer } = setup({ endpoints: false });
  debouncer.add(change({ objects: ["slow"] }));
  time.pass(60);
  debouncer.add(change({ full: false, objects: ["fast"] }));
  assert.deepEqual(pushes.map((push) => [...push.objects]), [["fast"]]);
  time.pass(40);
  assert.deepEqual(pushes.map((push) => [...push.objects]), [["fast"], ["slow"]]);
});

Deno.test("one push runs at a time, and changes meanwhile are merged into the next", async () => {
  const time = new ManualTime();
  const running: PromiseWithResolvers<void>[] = [];
  const sizes: number[] = [];
  const debouncer = new Debouncer({ after: 100, max: 1000, endpoints: true }, (merged) => {
    sizes.push(merged.changes);
    running.push(Promise.withResolvers());
    return running.at(-1)!.promise;
  }, time);
  debouncer.add(change());
  time.pass(100);
  for (let i = 0; i < 5; i++) debouncer.add(change());
  time.pass(5000);
  assert.deepEqual(sizes, [1]);
  running[0]!.resolve();
  await running[0]!.promise;
  await Promise.resolve();
  assert.deepEqual(sizes, [1, 5]);
});

Deno.test("a push that fails is reported, and the next one runs", async () => {
  const time = new ManualTime();
  const errors: unknown[] = [];
  let pushes = 0;
  const debouncer = new Debouncer(
    { after: 10, max: 100, endpoints: true },
    () => {
      pushes++;
      throw new Error("no");
    },
    time,
    (error) => errors.push(error),
  );
  for (let i = 0; i < 2; i++) {
    debouncer.add(change());
    time.pass(10);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  assert.deepEqual([pushes, errors.length], [2, 2]);
});

Deno.test("applied changes are not pushed again", () => {
  const { time, pushes, debouncer } = setup();
  debouncer.add(change({ objects: ["a"] }));
  assert.deepEqual([...debouncer.take()!.objects], ["a"]);
  assert.equal(debouncer.take(), undefined);
  time.pass(5000);
  assert.equal(pushes.length, 0);
});

Deno.test("after a stop nothing is pushed", () => {
  const { time, pushes, debouncer } = setup();
  debouncer.add(change());
  debouncer.stop();
  debouncer.add(change());
  time.pass(5000);
  assert.equal(pushes.length, 0);
});

Deno.test("under any times of changes each is pushed exactly once, neither before the quiet time nor after the maximum", () => {
  fc.assert(fc.property(fc.array(fc.nat(300), { minLength: 1, maxLength: 50 }), (gaps) => {
    const { time, pushes, debouncer } = setup();
    const times: number[] = [];
    for (const gap of gaps) {
      time.pass(gap);
      times.push(time.at);
      debouncer.add(change());
    }
    time.pass(5000);
    assert.equal(pushes.reduce((sum, push) => sum + push.changes, 0), gaps.length);
    for (const push of pushes) {
      assert.ok(push.at - push.startedAt <= 1000);
      const last = times.filter((at) => at < push.at).at(-1)!;
      assert.ok(push.at - last >= 100 || push.at - push.startedAt === 1000);
    }
  }));
});

Deno.test("a wait of more than 24.8 days does not become a wait of zero", async () => {
  let early = false;
  const cancel = REAL_TIMERS.after(2 ** 32, () => early = true);
  await new Promise<void>((resolve) => void REAL_TIMERS.after(30, resolve));
  cancel();
  assert.equal(early, false);
});

Deno.test("without a quiet time, changes of one moment are still one push", () => {
  const pushes: MergedChange[] = [];
  const debouncer = new Debouncer(
    { after: 0, max: 0, endpoints: true },
    (change) => void pushes.push(change),
    new ManualTime(),
  );
  const add = (reason: string) => debouncer.add({ reason, objects: [], full: true });
  debouncer.together(() => {
    add("service");
    debouncer.together(() => add("endpoint"));
    add("config");
  });
  assert.deepEqual(pushes.map(({ reasons }) => Object.fromEntries(reasons)), [{ service: 1, endpoint: 1, config: 1 }]);
  assert.throws(() =>
    debouncer.together(() => {
      add("config");
      throw new Error("in the middle");
    })
  );
  add("proxy");
  assert.deepEqual(pushes.slice(1).map(({ reasons }) => Object.fromEntries(reasons)), [{ config: 1 }, { proxy: 1 }]);
});
