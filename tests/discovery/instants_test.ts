/** Findings at an instant: a running server looks again when a certificate ends. */
import assert from "node:assert/strict";
import type { Finding } from "../../lib/finding/finding.ts";
import { type Clock, systemClock } from "../../lib/kernel/time/clock.ts";
import { page, withServer } from "./running.ts";

const DAY = 86_400_000;
const example = new URL("../testdata/findings/unusable-credential/triggers.yaml", import.meta.url);

/** The end of the example's certificate. */
const END = Date.UTC(2025, 5, 30);

Deno.test("a server finds a certificate that ends when it ends, though no file changes", async () => {
  let shift = END - 30 * DAY - systemClock.now();
  const wakes = new Set<() => void>();
  const clock: Clock = {
    ...systemClock,
    now: () => systemClock.now() + shift,
    after: (ms, fire) => {
      if (ms < 20 * DAY) return systemClock.after(ms, fire);
      wakes.add(fire);
      return () => void wakes.delete(fire);
    },
  };
  await withServer({ "a.yaml": Deno.readTextFileSync(example) }, async ({ ports, analysis }) => {
    const found = async () => {
      await analysis.settled();
      const findings: readonly Finding[] = JSON.parse((await page(ports.http, "/debug/problemz")).body);
      return findings.map(({ name }) => name);
    };
    assert.deepEqual(await found(), []);
    assert.equal(wakes.size, 1);
    shift += 31 * DAY;
    for (const wake of [...wakes]) wake();
    assert.deepEqual(await found(), ["unusable-credential"]);
  }, { clock });
  assert.equal(wakes.size, 0, "nothing more is awaited");
});
