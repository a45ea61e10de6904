import assert from "node:assert/strict";
import fc from "fast-check";
import { chooseProxies, placeInOrder, sizeOfStage } from "../../lib/rollout/choice.ts";
import {
  beginRollout,
  type RolloutState,
  shareOf,
  type StageFacts,
  stepRollout,
  underPlan,
} from "../../lib/rollout/machine.ts";
import { planOf, type RolloutPlan } from "../../lib/rollout/plan.ts";

const stages = (text: string) => {
  const plan = planOf({ "mesh.io/rollout": text }, 5000);
  assert.ok(plan !== undefined && "stages" in plan, text);
  return plan;
};

const plan: fc.Arbitrary<RolloutPlan> = fc.record({
  stages: fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { maxLength: 4 }).chain((shares) =>
    fc.array(fc.integer({ min: 0, max: 50 }), { minLength: shares.length + 1, maxLength: shares.length + 1 }).map(
      (soaks) => [...shares.sort((a, b) => a - b), 100].map((percent, at) => ({ percent, soakMs: soaks[at]! })),
    )
  ),
  paused: fc.boolean(),
});

const facts: fc.Arbitrary<StageFacts> = fc.record({
  total: fc.integer({ min: 0, max: 20 }),
  chosen: fc.integer({ min: 0, max: 20 }),
  live: fc.integer({ min: 0, max: 20 }),
  failing: fc.integer({ min: 0, max: 2 }),
  refused: fc.constantFrom(0, 0, 0, 0, 1),
  words: fc.constant(["no"]),
  errors: fc.constantFrom("", "", "", "errors rose"),
});

Deno.test("a plan is rising shares that end with everybody, each with its soak time", () => {
  assert.deepEqual(stages("10%, 50%:1h,100%:0s").stages, [
    { percent: 10, soakMs: 5000 },
    { percent: 50, soakMs: 3_600_000 },
    { percent: 100, soakMs: 0 },
  ]);
  const soak = planOf(
    { "mesh.io/rollout": "1%,100%", "mesh.io/rollout-soak": "2m", "mesh.io/rollout-paused": "true" },
    0,
  );
  assert.deepEqual(soak, {
    stages: [{ percent: 1, soakMs: 120_000 }, { percent: 100, soakMs: 120_000 }],
    paused: true,
  });
  assert.equal(planOf({}, 0), undefined);
});

for (
  const text of [
    "",
    "10%",
    "10,100%",
    "50%,10%,100%",
    "0%,100%",
    "10%,10%,100%",
    "10%:x,100%",
    "101%",
    "10%:1h:1h,100%",
  ]
) {
  Deno.test(`${JSON.stringify(text)} is no plan`, () => {
    const found = planOf({ "mesh.io/rollout": text }, 0);
    assert.ok(Array.isArray(found) && found.length === 1);
    assert.equal(found[0].annotation, "mesh.io/rollout");
  });
}

Deno.test("a long text is no soak time", () => {
  const soak = "1ns".repeat(80_000);
  const found = planOf({ "mesh.io/rollout": "100%", "mesh.io/rollout-soak": soak }, 0);
  assert.ok(Array.isArray(found) && found[0].annotation === "mesh.io/rollout-soak");
});

Deno.test("each wrong annotation is named", () => {
  const found = planOf({ "mesh.io/rollout": "x", "mesh.io/rollout-soak": "800h", "mesh.io/rollout-paused": "yes" }, 0);
  assert.ok(Array.isArray(found));
  assert.deepEqual(found.map(({ annotation }) => annotation).sort(), [
    "mesh.io/rollout",
    "mesh.io/rollout-paused",
    "mesh.io/rollout-soak",
  ]);
});

Deno.test("the proxies of a stage are among the proxies of each larger stage, and never more than the stage says", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 60 }),
      fc.string(),
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 100 }),
      (proxies, key, a, b) => {
        const [small, large] = [Math.min(a, b), Math.max(a, b)];
        const first = chooseProxies(key, proxies, small).proxies;
        const second = chooseProxies(key, proxies, large).proxies;
        assert.ok(first.isSubsetOf(second));
        assert.equal(first.size, sizeOfStage(proxies.length, small));
        assert.ok(first.size <= Math.max(proxies.length === 0 ? 0 : 1, proxies.length * small / 100));
        if (large === 100) assert.equal(second.size, proxies.length);
        // The order of connection decides nothing.
        assert.deepEqual(chooseProxies(key, proxies.toReversed(), small).proxies, first);
      },
    ),
  );
});

Deno.test("after a restart only proxies of the earlier choice are chosen, however few are back", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 100 }),
      fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }),
      (proxies, percent, back) => {
        const before = chooseProxies("VirtualService/a/b", proxies, percent);
        const earlier = { total: proxies.length, limit: before.limit };
        const returned = proxies.filter((_, at) => back[at]);
        const now = chooseProxies("VirtualService/a/b", returned, percent, { earlier }).proxies;
        assert.ok(now.isSubsetOf(before.proxies));
        assert.deepEqual(now, new Set(returned).intersection(before.proxies));
      },
    ),
  );
});

Deno.test("two objects begin with different proxies", () => {
  const proxies = Array.from({ length: 200 }, (_, at) => `sidecar~10.0.0.${at}~p${at}.x~x`);
  const [a, b] = ["VirtualService/x/a", "VirtualService/x/b"].map((key) => chooseProxies(key, proxies, 10).proxies);
  assert.ok(a!.intersection(b!).size < 15);
});

Deno.test("a rollout goes one stage at a time, never without every acknowledgement, the soak time and a reason", () => {
  fc.assert(
    fc.property(plan, fc.array(fc.tuple(facts, fc.integer({ min: 0, max: 40 })), { maxLength: 40 }), (of, events) => {
      let now = 0;
      let state: RolloutState = beginRollout("VirtualService/a/b", "h", of, now);
      for (const [seen, pause] of events) {
        now += pause;
        const next = stepRollout(state, seen, now);
        const isBad = seen.refused > 0 || seen.errors !== "";
        if (state.phase === "taken-back") assert.equal(next, state);
        else if (isBad) assert.ok(next !== "settled" && next.phase === "taken-back" && shareOf(next) === 0);
        else if (next !== state) {
          assert.ok(!of.paused && seen.live >= seen.chosen && seen.total > 0 && seen.failing === 0);
          if (next === "settled" || next.stage > state.stage) {
            assert.equal(state.phase, "soaking");
            assert.ok(now - state.since >= of.stages[state.stage]!.soakMs);
            assert.equal(next === "settled" ? of.stages.length : next.stage, state.stage + 1);
          }
        }
        if (next === "settled") return;
        state = next;
      }
    }),
  );
});

Deno.test("another plan in the middle never sends the object to more proxies than its first stage or the present stage", () => {
  fc.assert(
    fc.property(plan, plan, fc.nat({ max: 4 }), fc.constantFrom("spreading", "soaking"), (a, b, at, phase) => {
      const state = { ...beginRollout("k", "h", a, 0), stage: at % a.stages.length, phase: phase as "spreading" };
      const next = underPlan(state, b, 1);
      assert.ok(shareOf(next) <= Math.max(shareOf(state), b.stages[0]!.percent));
    }),
  );
});

Deno.test("a pause keeps the stage, and a rejection takes the object back all the same", () => {
  const paused = { ...stages("10%,100%"), paused: true };
  const all = { total: 10, chosen: 1, live: 1, failing: 0, refused: 0, words: [], errors: "" };
  const state = beginRollout("k", "h", paused, 0);
  assert.equal(stepRollout(state, all, 1e9), state);
  const stopped = stepRollout(state, { ...all, refused: 1, words: ["bad value"] }, 5);
  assert.ok(stopped !== "settled");
  assert.deepEqual([stopped.phase, stopped.reason], ["taken-back", "1 of 1 proxies reject it: bad value"]);
});

Deno.test("a rollout that was taken back begins again under other stages only", () => {
  const state = { ...beginRollout("k", "h", stages("10%,100%"), 0), phase: "taken-back" as const, reason: "no" };
  assert.equal(underPlan(state, stages("10%,100%"), 9), state);
  assert.deepEqual(underPlan(state, stages("5%,100%"), 9), beginRollout("k", "h", stages("5%,100%"), 9));
});

Deno.test("a proxy in two reports counts once", () => {
  const proxies = Array.from({ length: 20 }, (_, at) => `p${at}`);
  const key = "VirtualService/x/a";
  const again = proxies.slice(0, 10).map((proxy) => placeInOrder(proxy, key));
  assert.deepEqual(chooseProxies(key, proxies, 50, { elsewhere: again }), chooseProxies(key, proxies, 50));
});

Deno.test("a proxy of the stage keeps the candidate when others leave, and others that come take no more than the share", () => {
  const proxies = Array.from({ length: 20 }, (_, at) => `p${at}`);
  const key = "VirtualService/x/a";
  const whole = chooseProxies(key, proxies, 50);
  const rest = proxies.filter((proxy) => !whole.proxies.has(proxy));
  const own = [...[...whole.proxies].slice(0, 8), ...rest.slice(0, 2)];
  const before = { present: whole.limit, kept: whole.places };
  const now = chooseProxies(key, own, 50, before);
  assert.deepEqual([now.proxies, now.limit], [new Set(own.slice(0, 8)), whole.limit]);
  assert.equal(
    chooseProxies(key, own, 50, { ...before, kept: new Set() }).proxies.size,
    5,
    "a smaller share in the plan",
  );
  const others = Array.from({ length: 1000 }, (_, at) => `q${at}`);
  assert.equal(chooseProxies(key, [...own, ...others], 10, before).proxies.size, 101);
});

Deno.test("a new leader that knows half of the proxies keeps the limit of the leader before", () => {
  const proxies = Array.from({ length: 20 }, (_, at) => `p${at}`);
  const key = "VirtualService/x/a";
  for (const percent of [10, 50, 100]) {
    const { limit, total } = chooseProxies(key, proxies, percent);
    const now = chooseProxies(key, proxies.slice(10), percent, { earlier: { total, limit }, present: limit });
    assert.equal(now.limit, limit, `${percent}%`);
  }
});
