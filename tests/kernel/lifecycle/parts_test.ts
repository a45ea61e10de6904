import assert from "node:assert/strict";
import { OptionFaults } from "../../../lib/kernel/lifecycle/option_faults.ts";
import { PartList } from "../../../lib/kernel/lifecycle/parts.ts";
import { createReadiness } from "../../../lib/kernel/lifecycle/readiness.ts";
import { createStopper } from "../../../lib/kernel/lifecycle/stop.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";

const kernel = () => ({ readiness: createReadiness(), stopper: createStopper(1000, createFakeClock(0)) });

/** A list of parts that write their actions into `done`. */
const given = (done: string[] = []) => ({ done });
const list = () => PartList.of<ReturnType<typeof given>>();

class Faults extends OptionFaults<string> {
  override readonly name = "Faults";
}

Deno.test("parts start in the order of the list, each with what it needs and nothing else, and end in reverse", async () => {
  const { done } = given();
  const end = (name: string) => () => void done.push(`${name} ends`);
  const parts = list()
    .add({ name: "first", needs: [], why: "", start: () => Promise.resolve(1), stop: end("first") })
    .add({ name: "second", needs: [], why: "", start: () => 2, stop: end("second") })
    .add({
      ...{ name: "third", needs: ["first"], why: "" },
      start: (got) => Object.keys(got).join(" ") + got.first,
      stop: end("third"),
    });
  const { stopper, readiness } = kernel();
  assert.deepEqual(await parts.start({ done }, { stopper, readiness }), { first: 1, second: 2, third: "done first1" });
  await stopper.stop();
  assert.deepEqual(done, ["third ends", "second ends", "first ends"]);
});

Deno.test("a part that starts beside others is waited for by the part that needs it, and by the whole", async () => {
  const { done } = given();
  const slow = Promise.withResolvers<string>();
  const parts = list()
    .add({ name: "slow", needs: [], why: "", beside: true, start: () => slow.promise })
    .add({
      ...{ name: "quick", needs: [], why: "" },
      start: ({ done }) => {
        done.push("quick");
        slow.resolve("key");
      },
    })
    .add({ name: "last", needs: ["slow"], why: "", start: ({ slow, done }) => void done.push(slow) });
  await parts.start({ done }, kernel());
  assert.deepEqual(done, ["quick", "key"]);
});

Deno.test("a failure of a part that starts beside others ends the start where the part is needed, and is not an unhandled rejection", async () => {
  const { done } = given();
  const parts = list()
    .add({ name: "broken", needs: [], why: "", beside: true, start: () => Promise.reject(new Error("no key")) })
    .add({
      name: "between",
      needs: [],
      why: "",
      start: ({ done }) => new Promise<void>((resolve) => setTimeout(resolve, 0)).then(() => void done.push("between")),
    })
    .add({ name: "needs it", needs: ["broken"], why: "", start: () => {} });
  await assert.rejects(parts.start({ done }, kernel()), /no key/);
  assert.deepEqual(done, ["between"]);
});

Deno.test("faults of a part are reported together with faults of all later parts, and a part that did not start is not ended", async () => {
  const { done } = given();
  const fault = (option: string) => ({ option, text: "got 1, expected 2" });
  const parts = list()
    .add({
      name: "before",
      needs: [],
      why: "",
      start: () => {},
      stop: () => void done.push("before ends"),
      faults: () => Promise.resolve([fault("before")]),
    })
    .add({
      name: "failing",
      needs: [],
      why: "",
      start: () => {
        throw new Faults([fault("failing")]);
      },
      stop: () => void done.push("failing ends"),
    })
    .add({ name: "after", needs: [], why: "", start: () => {}, faults: () => Promise.resolve([fault("after")]) });
  const { stopper, readiness } = kernel();
  const error = await parts.start({ done }, { stopper, readiness }).then(() => undefined, (error) => error);
  assert.ok(error instanceof Faults, "the class of the error stays");
  assert.deepEqual(error.faults.map(({ option }) => option), ["failing", "after"]);
  assert.equal(error.message, "failing: got 1, expected 2\nafter: got 1, expected 2");
  await stopper.stop();
  assert.deepEqual(done, ["before ends"]);
});

Deno.test("the program is ready when the parts that say so have started", async () => {
  const { readiness, stopper } = kernel();
  const seen: string[][] = [];
  const parts = list()
    .add({ name: "sources", needs: [], why: "", ready: "synced", start: () => void seen.push(readiness.pending()) })
    .add({ name: "ports", needs: [], why: "", ready: "listening", start: () => void seen.push(readiness.pending()) })
    .add({ name: "later", needs: [], why: "", start: () => void seen.push(readiness.pending()) });
  await parts.start(given(), { readiness, stopper });
  assert.deepEqual(seen, [["synced", "listening"], ["listening"], []]);
  assert.equal(readiness.ready(), true);
});
