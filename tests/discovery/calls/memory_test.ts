/** What workloads have called is handed to their next proxies, is forgotten, and nobody pushes out what others called. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { type CallingWorkload, CallMemory, MAX_CALLED } from "../../../lib/discovery/calls/call_memory.ts";
import { callsText, readCalls } from "../../../lib/discovery/calls/stored_calls.ts";
import { runs } from "../../properties.ts";

const DAY = 86_400_000;
const shop: CallingWorkload = { namespace: "shop", account: "cart", name: "cart" };

/** A memory under the control of a test. */
function memory(changes: { readonly maxNames?: number } = {}) {
  const time = { now: 1000 * DAY };
  return { time, memory: new CallMemory({ lifetime: 8 * DAY, clock: { now: () => time.now }, ...changes }) };
}

/** A proxy connects, calls, and leaves. @returns what the proxy was handed */
function life(known: CallMemory, workload: CallingWorkload, names: readonly string[], isBack = false): string[] {
  const record = known.open(workload);
  const handed = [...record.handed(isBack)];
  record.called(names);
  record.close();
  return handed.sort();
}

Deno.test("a workload's next proxy is handed what proxies of the workload called, and no other workload is", () => {
  const { memory: known } = memory();
  assert.deepEqual(life(known, shop, ["80/a", "80/b"]), []);
  assert.deepEqual(life(known, shop, ["80/c"]), ["80/a", "80/b"]);
  assert.deepEqual(life(known, shop, []), ["80/a", "80/b", "80/c"]);
  for (const other of [{ namespace: "x" }, { account: "x" }, { account: "" }, { name: "x" }]) {
    assert.deepEqual(life(known, { ...shop, ...other }, []), [], JSON.stringify(other));
  }
});

Deno.test("a name is forgotten when no proxy has called it for the lifetime, and never while a proxy that called it lives", () => {
  const { time, memory: known } = memory();
  const record = known.open(shop);
  record.called(["80/a"]);
  time.now += 100 * DAY;
  known.forgetOld();
  assert.deepEqual(life(known, shop, []), ["80/a"]);
  record.close();
  time.now += 8 * DAY;
  known.forgetOld();
  assert.equal(known.size, 1);
  time.now += 1;
  known.forgetOld();
  assert.deepEqual([known.size, [...known.workloads()].length], [0, 0]);
});

Deno.test("one proxy at a time is not handed names with old calls, and its question renews them", () => {
  const { time, memory: known } = memory();
  life(known, shop, ["80/old"]);
  time.now += 4 * DAY + 1;
  life(known, shop, ["80/new"]);
  const probe = known.open(shop);
  assert.deepEqual(probe.handed(false), ["80/new"]);
  assert.deepEqual(life(known, shop, []), ["80/new", "80/old"], "others are handed everything meanwhile");
  probe.called(["80/old"]);
  assert.deepEqual(life(known, shop, []), ["80/new", "80/old"]);
  probe.close();
  assert.deepEqual(life(known, shop, []), ["80/new", "80/old"]);
});

Deno.test("a probe that calls nothing makes room for the next probe, and a proxy that comes back is no probe", () => {
  const { time, memory: known } = memory();
  life(known, shop, ["80/old"]);
  time.now += 5 * DAY;
  assert.deepEqual(life(known, shop, [], true), ["80/old"]);
  assert.deepEqual(life(known, shop, []), []);
  assert.deepEqual(life(known, shop, []), []);
});

Deno.test("a workload that calls very many names loses its oldest ones alone", () => {
  const { time, memory: known } = memory();
  life(known, { ...shop, name: "other" }, ["80/a"]);
  for (let i = 0; i < 2 * MAX_CALLED; i++, time.now += 1) life(known, shop, [`80/${i}`]);
  assert.equal(known.size, MAX_CALLED + 1);
  const handed = life(known, shop, []);
  assert.ok(handed.includes(`80/${2 * MAX_CALLED - 1}`) && !handed.includes("80/0"));
  assert.deepEqual(life(known, { ...shop, name: "other" }, []), ["80/a"]);
});

Deno.test("an account with any number of workloads and names pushes out nothing of other accounts", () => {
  const { memory: known } = memory({ maxNames: 5000 });
  const others = Array.from({ length: 100 }, (_, i) => ({ namespace: `n${i % 7}`, account: `a${i}`, name: "w" }));
  for (const other of others) life(known, other, ["80/a", "80/b", "outbound|9||c"]);
  for (const account of ["mallory", ""]) {
    for (let i = 0; i < 200; i++) {
      const names = Array.from({ length: 500 }, (_, n) => `80/${n}`);
      life(known, { namespace: account === "" ? `fake${i}` : "shop", account, name: `w${i}` }, names);
      assert.ok(known.size <= 5000);
    }
  }
  for (const other of others) assert.equal(life(known, other, []).length, 3, other.account);
});

Deno.test("a namespace with any number of accounts pushes out nothing of other namespaces", () => {
  const { memory: known } = memory({ maxNames: 2000 });
  const names = Array.from({ length: 400 }, (_, n) => `80/${n}`);
  life(known, shop, names);
  for (let i = 0; i < 500; i++) life(known, { namespace: "mallory", account: `a${i}`, name: "w" }, names.slice(0, 10));
  assert.equal(life(known, shop, []).length, 400);
  assert.ok(known.size <= 2000);
});

Deno.test("workloads whose names were pushed out are forgotten themselves", () => {
  const { memory: known } = memory({ maxNames: 50 });
  for (let i = 0; i < 2000; i++) life(known, { namespace: `n${i}`, account: "", name: `w${i}` }, ["80/a"]);
  assert.deepEqual([known.size, known.workloadCount], [50, 50]);
  for (let i = 0; i < 2000; i++) known.merge({ ...shop, name: `w${i}` }, new Map([["80/a", 999 * DAY]]));
  assert.deepEqual([known.size, known.workloadCount], [50, 50]);
});

Deno.test("while an account fills the memory, a proxy of the account that is still connected keeps working", () => {
  const { memory: known } = memory({ maxNames: 600 });
  const record = known.open(shop);
  record.called(Array.from({ length: 400 }, (_, n) => `80/${n}`));
  for (let i = 0; i < 5; i++) life(known, { ...shop, name: `w${i}` }, Array.from({ length: 400 }, (_, n) => `80/${n}`));
  record.called(["80/late"]);
  record.close();
  assert.ok(known.size <= 600);
  assert.deepEqual(life(known, shop, []), ["80/late"]);
});

const names = fc.array(fc.constantFrom("80/a", "80/b", "90/c", "outbound|1||d"), { maxLength: 4 });
const workload = fc.record({
  namespace: fc.constantFrom("n", "m"),
  account: fc.constantFrom("", "a"),
  name: fc.constantFrom("v", "w"),
});
const step = fc.oneof(
  fc.record({ do: fc.constant("call" as const), server: fc.nat(1), workload, names, stays: fc.boolean() }),
  fc.record({ do: fc.constant("leave" as const), nth: fc.nat(9) }),
  fc.record({ do: fc.constant("pass" as const), hours: fc.integer({ min: 1, max: 60 }) }),
  fc.record({ do: fc.constant("store" as const), server: fc.nat(1) }),
);

Deno.test("in random lives of two servers: what was called within half of the lifetime is handed, what nobody called is not", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const time = { now: 1000 * DAY };
      const servers = [0, 1].map(() => new CallMemory({ lifetime: 4 * DAY, clock: { now: () => time.now } }));
      let stored = callsText([], 1 << 20);
      /** Last calls by server, workload and name. */
      const model = servers.map(() => new Map<string, number>());
      const open: { readonly close: () => void }[] = [];
      const key = (of: CallingWorkload, name: string) => `${of.namespace}/${of.account}/${of.name} ${name}`;
      for (const one of steps) {
        if (one.do === "pass") time.now += one.hours * 3_600_000;
        else if (one.do === "leave") open.splice(one.nth, 1)[0]?.close();
        else if (one.do === "store") {
          const known = servers[one.server]!;
          for (const { workload, calls } of readCalls(stored, 1 << 20)!) known.merge(workload, calls);
          known.forgetOld();
          stored = callsText([...known.workloads()], 1 << 20);
        } else {
          const record = servers[one.server]!.open(one.workload);
          const handed = new Set(record.handed(true));
          for (const name of ["80/a", "80/b", "90/c", "outbound|1||d"]) {
            const at = model[one.server]!.get(key(one.workload, name));
            if (at !== undefined && time.now - at <= 2 * DAY) assert.ok(handed.has(name), `${name} was called`);
            const anywhere = model.some((calls) => calls.has(key(one.workload, name)));
            if (handed.has(name)) assert.ok(anywhere, `${name} was never called`);
          }
          record.called(one.names);
          for (const name of one.names) model[one.server]!.set(key(one.workload, name), time.now);
          if (one.stays) open.push(record);
          else record.close();
        }
      }
      for (const one of open) one.close();
      for (const known of servers) {
        const all = [...known.workloads()].reduce((sum, { calls }) => sum + calls.size, 0);
        assert.equal(known.size, all);
      }
    }),
    { numRuns: runs(200) },
  );
});

Deno.test("the stored form: what does not fit is that of the workloads with the most names, and other texts are refused", () => {
  const calls = (count: number) => new Map(Array.from({ length: count }, (_, i) => [`80/${"x".repeat(60)}${i}`, DAY]));
  const many = Array.from({ length: 20 }, (_, i) => ({ workload: { ...shop, name: `w${i}` }, calls: calls(i * 20) }));
  const text = callsText(many, 20_000);
  assert.ok(text.length <= 20_000);
  const kept = readCalls(text, 20_000)!.map(({ workload }) => workload.name).sort();
  assert.deepEqual(kept, many.slice(0, kept.length).map(({ workload }) => workload.name).sort());
  assert.ok(kept.length > 3);
  assert.deepEqual(readCalls(text, 20_000)!.find(({ workload }) => workload.name === "w2")!.calls, calls(40));
  for (const bad of ["", "{}", '{"workloads":[{}]}', '{"workloads":{"a":1}}', `${text}x`, "[]"]) {
    assert.equal(readCalls(bad, 30_000), undefined, bad.slice(0, 40));
  }
  assert.equal(readCalls(text, text.length - 1), undefined, "a longer text is not parsed");
});
