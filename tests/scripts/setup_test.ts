import assert from "node:assert/strict";
import { command } from "../../scripts/setup/command.ts";
import { runSteps } from "../../scripts/setup/run_steps.ts";
import type { Step } from "../../scripts/setup/steps.ts";

const loud = (status: number) => command("sh", ["-c", `seq 100; seq 100 >&2; exit ${status}`], "/");
const step = (name: string, run: Step["run"], done = false): Step => ({ name, run, done: () => done });

async function outputOf(steps: readonly Step[], live = false) {
  const [out, errors]: [string[], string[]] = [[], []];
  const ended = await runSteps(steps, {
    live,
    write: (text) => void out.push(text),
    writeError: (text) => void errors.push(text),
  });
  return { ended, out: out.join(""), errors: errors.join("") };
}

Deno.test("the set-up prints one line a step, whatever the programs print that a step runs", async () => {
  const steps = [
    step("one", () => loud(0)),
    step("two", () => Promise.resolve("left out")),
    step("three", () => loud(0)),
  ];
  const { ended, out, errors } = await outputOf(steps);
  assert(ended);
  assert.match(
    out,
    /^\[1\/3\] one: ready \(\d+\.\d s\)\n\[2\/3\] two: left out\n\[3\/3\] three: ready \(\d+\.\d s\)\n$/,
  );
  assert.equal(errors, "");
});

Deno.test("on a terminal a step's line is there while it runs, and is written over", async () => {
  const { out } = await outputOf([step("one", () => loud(0))], true);
  assert.match(out, /^\[1\/1\] one \.\.\.\r\[1\/1\] one: ready \(\d+\.\d s\)\n$/);
});

Deno.test("the set-up ends with the first step that fails and shows what its program printed", async () => {
  let later = false;
  const steps = [
    step("one", () => loud(3)),
    step("two", () => {
      later = true;
      return Promise.resolve();
    }),
  ];
  const { ended, out, errors } = await outputOf(steps);
  assert(!ended && !later);
  assert.equal(out, "");
  assert.match(errors, /^\[1\/2\] one: sh -c .* failed:\n1\n2\n/);
});

Deno.test("a set-up with nothing to do prints one line", async () => {
  const { out } = await outputOf([step("one", () => assert.fail("ran"), true)]);
  assert.equal(out, "[1/1] everything is there\n");
});
