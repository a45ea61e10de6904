/** When the rules of a pod are read again. */
import assert from "node:assert/strict";
import { podRules } from "../../../lib/cni/ambient/pod_rules.ts";
import { RuleLooks } from "../../../lib/cni/ambient/looks.ts";
import { readPod } from "../../../lib/cni/pods/pod.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { rules } from "../support/ambient_node.ts";

const place = { netns: "/run/netns/cni-1", identity: "4:1" };
const wanted = podRules({ annotations: {} }, rules);
const pod = (more: Record<string, unknown> = {}, labels = {}) =>
  readPod({ metadata: { namespace: "shop", name: "cart", uid: "u", labels, ...more }, status: { podIP: "10.0.0.1" } });

/** Looks with a clock of the test. */
function looksAt() {
  const time = { now: 0 };
  const waits: (() => void)[] = [];
  const again: string[] = [];
  const clock = {
    ...systemClock,
    monotonic: () => time.now,
    after: (_ms: number, work: () => void) => {
      waits.push(work);
      return () => void waits.splice(waits.indexOf(work), 1);
    },
  };
  const looks = new RuleLooks(clock, (key) => again.push(key));
  const isDue = (one = pod(), where = place, what = wanted) => looks.isDue("shop/cart", one, where, what);
  return { time, waits, again, looks, isDue };
}

Deno.test("unknown rules, other rules, another namespace and an asked look are read at once", () => {
  const { looks, isDue } = looksAt();
  assert.equal(isDue(), true);
  looks.areRight("shop/cart", pod(), place, wanted);
  assert.equal(isDue(), false);
  assert.equal(isDue(pod(), { ...place, identity: "4:2" }), true);
  const other = podRules({ annotations: { "ambient.mesh.io/dns-capture": "false" } }, rules);
  assert.equal(isDue(pod(), place, other), true);
  looks.ask("shop/cart");
  assert.equal(isDue(), true);
  assert.equal(looks.wereRight("shop/cart", place, wanted), true);
  assert.equal(looks.wereRight("shop/cart", place, other), false);
  assert.equal(looks.wereRight("shop/cart", { ...place, identity: "4:2" }, wanted), false);
  looks.areRight("shop/cart", pod(), place, wanted);
  assert.equal(isDue(), false);
  looks.forget("shop/cart");
  assert.equal(isDue(), true);
});

Deno.test("the agent's own annotation is no change; other changes are looked at once in a second, and never lost", () => {
  const { looks, isDue, time, waits, again } = looksAt();
  looks.areRight("shop/cart", pod(), place, wanted);
  time.now = 60_000;
  assert.equal(isDue(pod({ resourceVersion: "2", annotations: { "ambient.mesh.io/redirection": "enabled" } })), false);
  assert.equal(waits.length, 0);
  assert.equal(isDue(pod({}, { a: "1" })), true);
  looks.areRight("shop/cart", pod({}, { a: "1" }), place, wanted);
  for (const a of ["2", "3", "4"]) assert.equal(isDue(pod({}, { a })), false);
  assert.equal(waits.length, 1, "one look for all changes");
  waits.pop()!();
  assert.deepEqual(again, ["shop/cart"]);
  assert.equal(isDue(pod({}, { a: "4" })), true);
});
