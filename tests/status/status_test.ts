/** The status of an object, and the worth of a write. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { fieldFinding, type Finding, lossOf, warningOf } from "../../lib/finding/finding.ts";
import { assignedChange, ownAssigned, sameAssigned } from "../../lib/status/addresses.ts";
import { withConditions } from "../../lib/status/conditions.ts";
import { desiredStatus, statusChange } from "../../lib/status/desired.ts";
import { type ObjectProgress, sumProgress } from "../../lib/status/progress.ts";
import { readReport, reportData } from "../../lib/status/report.ts";
import { WrittenStatuses } from "../../lib/status/written.ts";
import { runs } from "../properties.ts";

const NOW = "2026-01-01T00:00:00Z";
const LATER = "2026-01-01T00:01:00Z";

const progress = (more: Partial<ObjectProgress> = {}): ObjectProgress => ({
  ...{ generation: 2, total: 10, live: 10, rejected: 0, reason: "" },
  ...more,
});

const error = (): Finding => lossOf("unknown-host", ["VirtualService/shop/a"], "no such host");

Deno.test("conditions of others stay as they are and where they are; ours keep the time of their last change", () => {
  const theirs = { type: "Healthy", status: "True", lastProbeTime: NOW, anything: [1] };
  const ours = [{ type: "Reconciled", status: "False", reason: "Pending", message: "1/2" }] as const;
  const first = withConditions([theirs, { no: "condition" }], ours, 1, NOW);
  assert.deepEqual(first.slice(0, 2), [theirs, { no: "condition" }]);
  assert.deepEqual(first[2], { ...ours[0], lastTransitionTime: NOW, observedGeneration: 1 });
  const same = withConditions(first, [{ ...ours[0], message: "0/2" }], 2, LATER);
  assert.deepEqual(same[2], { ...ours[0], message: "0/2", lastTransitionTime: NOW, observedGeneration: 2 });
  const other = withConditions(same, [{ ...ours[0], status: "True" }], 2, LATER);
  assert.equal(other[2]!["lastTransitionTime"], LATER);
  assert.equal(other.length, 3);
  assert.equal(withConditions("nonsense", ours, 1, NOW).length, 1);
});

Deno.test("an object is live when all proxies of all servers have the present generation, and nothing less", () => {
  const state = (...of: readonly (ObjectProgress | undefined)[]) => sumProgress(2, of).state;
  assert.equal(state(progress(), progress({ total: 3, live: 3 })), "live");
  assert.equal(state(progress({ total: 0, live: 0 })), "nowhere");
  assert.equal(state(progress({ total: 0, live: 0 }), progress({ live: 9 })), "pending");
  assert.equal(state(progress(), progress({ live: 9 })), "pending");
  assert.equal(state(progress(), progress({ generation: 1 })), "pending", "another server has the generation before");
  assert.equal(state(progress(), undefined), "pending", "another server has not heard of it");
  assert.equal(state(progress(), progress({ live: 9, rejected: 1, reason: "no" })), "rejected");
  const { live, total, rejected } = sumProgress(2, [progress(), progress({ generation: 1, total: 5, live: 5 })]);
  assert.deepEqual({ live, total, rejected }, { live: 10, total: 15, rejected: 0 });
});

Deno.test("status says how far an object is, what is found in it and why it was rejected", () => {
  const of = (rows: ObjectProgress, findings: readonly Finding[]) => {
    const { conditions, messages } = desiredStatus(2, sumProgress(2, [rows]), findings);
    return { said: conditions.map(({ type, status, message }) => `${type} ${status}: ${message}`), messages };
  };
  assert.deepEqual(of(progress(), []), {
    said: ["Reconciled True: 10/10 proxies up to date.", "PassedValidation True: No errors found."],
    messages: [],
  });
  const bad = of(progress({ live: 7, rejected: 3, reason: "duplicate domain" }), [
    warningOf("no-effect", ["VirtualService/shop/a"], "a warning"),
    error(),
  ]);
  assert.deepEqual(bad.said, [
    "Reconciled False: 7/10 proxies up to date. Rejected by 3: duplicate domain",
    "PassedValidation False: MSH0101: no such host",
  ]);
  assert.deepEqual(bad.messages.map(({ type, level }) => [type, level]), [
    [{ name: "unknown-host", code: "MSH0101" }, "ERROR"],
    [{ name: "no-effect", code: warningOf("no-effect", [], "").code }, "WARNING"],
  ]);
});

Deno.test("an object is reconciled only where a proxy has it and nothing takes its effect away", () => {
  const said = (rows: ObjectProgress, findings: readonly Finding[]) => {
    const [first] = desiredStatus(2, sumProgress(2, [rows]), findings).conditions;
    return `${first?.status} ${first?.reason}: ${first?.message}`;
  };
  const nowhere = progress({ total: 0, live: 0 });
  assert.equal(said(nowhere, []), "Unknown NoProxy: No connected proxy has a resource of the object.");
  const lost = "Parts of the object have no effect: MSH0101: no such host";
  assert.equal(said(progress(), [error()]), `False NoEffect: 10/10 proxies up to date. ${lost}`);
  assert.equal(said(nowhere, [error()]), `False NoEffect: 0/0 proxies up to date. ${lost}`);
  assert.match(said(progress({ live: 9, rejected: 1, reason: "no" }), [error()]), /^False Rejected: /);
  const before = desiredStatus(2, sumProgress(2, [progress()]), []);
  assert.notEqual(desiredStatus(2, sumProgress(2, [nowhere]), []).meaning, before.meaning, "that is worth a write");
});

Deno.test("a hundred findings are twenty messages, and a long text is shortened", () => {
  const findings = Array.from(
    { length: 100 },
    (_, i) => fieldFinding("unknown-host", "error", { objects: [], field: "f", line: 0 }, i, "x".repeat(5000)),
  );
  const { messages, conditions } = desiredStatus(1, sumProgress(1, []), findings);
  assert.equal(messages.length, 20);
  assert.ok(JSON.stringify({ messages, conditions }).length < 30_000);
});

Deno.test("a status is not written again with the same content, even if another project's definition has pruned it", () => {
  const desired = desiredStatus(2, sumProgress(2, [progress()]), [error()]);
  const change = statusChange(desired, {}, NOW)!;
  assert.equal(statusChange(desired, change, LATER), undefined);
  const pruned = {
    ...change,
    observedGeneration: "2",
    validationMessages: (change["validationMessages"] as readonly Record<string, unknown>[]).map((
      { message: _, ...rest },
    ) => rest),
  };
  assert.equal(statusChange(desired, pruned, LATER), undefined);
  assert.notEqual(statusChange({ ...desired, generation: 3 }, change, LATER), undefined);
  assert.notEqual(
    statusChange(desiredStatus(2, sumProgress(2, [progress({ live: 9 })]), [error()]), change, LATER),
    undefined,
  );
});

const PATIENCE = { pending: 5000, numbers: 600_000 };
const statusOf = (generation: number, row: Partial<ObjectProgress>) => {
  const sum = sumProgress(generation, [progress({ generation, ...row })]);
  return { desired: desiredStatus(generation, sum, []), isPending: sum.state === "pending" };
};

Deno.test("an edit that becomes live in time is one write; one that does not is said to be pending first", () => {
  const written = new WrittenStatuses(PATIENCE);
  const due = (at: number, generation: number, row: Partial<ObjectProgress>) => {
    const { desired, isPending } = statusOf(generation, row);
    return written.isDue("u", desired, isPending, at);
  };
  assert.equal(due(0, 1, {}), true);
  assert.equal(due(500, 1, {}), false);
  assert.deepEqual([due(1000, 2, { live: 1 }), due(1500, 2, { live: 9 }), due(2000, 2, {})], [false, false, true]);
  assert.deepEqual([due(3000, 3, { live: 1 }), due(7999, 3, { live: 1 }), due(8000, 3, { live: 1 })], [
    false,
    false,
    true,
  ]);
  assert.equal(due(9000, 3, { live: 2 }), false);
  assert.equal(due(9500, 3, {}), true);
  assert.equal(due(9600, 3, { live: 9, rejected: 1, reason: "no" }), true, "a rejection does not wait");
});

Deno.test("proxies that come and go write nothing but rarely: numbers alone are small", () => {
  const written = new WrittenStatuses(PATIENCE);
  let writes = 0;
  for (let at = 0; at < 3_600_000; at += 500) {
    const total = 300 + at / 500 % 100;
    const { desired, isPending } = statusOf(1, { total, live: total });
    if (written.isDue("u", desired, isPending, at)) writes++;
  }
  assert.equal(writes, 6);
});

Deno.test("a report is read as it was written", async () => {
  const row = fc.record({
    ...{ generation: fc.nat(), total: fc.nat(), live: fc.nat(), rejected: fc.nat() },
    reason: fc.string({ maxLength: 500 }),
  }, { noNullPrototype: true });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.uuid(), row)), async (rows) => {
      const report = new Map(rows);
      assert.deepEqual(await readReport(await reportData(report)), report);
    }),
    { numRuns: runs(30) },
  );
});

Deno.test("a report of 30,000 objects fits into a config map; another text is not a report", async () => {
  const rows = Array.from({ length: 30_000 }, () => [crypto.randomUUID() as string, progress()] as const);
  const data = await reportData(new Map([...rows, ["late", progress({ live: 1 })]]));
  assert.ok(JSON.stringify(data).length < 1_048_576);
  assert.equal((await readReport(data))!.get("late")!.live, 1, "what is unfinished is never left out");
  for (const bad of [undefined, {}, { report: 7 }, { report: "!" }, { report: btoa("no gzip") }]) {
    assert.equal(await readReport(bad), undefined);
  }
});

Deno.test("addresses of a status are compared as sets of rows", () => {
  const rows = [{ host: "a", value: "240.240.0.1" }, { host: "A", value: "2001:2::f0f0:1" }];
  assert.equal(sameAssigned(rows, rows.toReversed()), true);
  assert.equal(sameAssigned(rows, rows.slice(1)), false);
  assert.equal(assignedChange(rows, { addresses: rows, conditions: [] }), undefined);
  assert.deepEqual(assignedChange(rows.slice(1), { addresses: rows }), { addresses: [rows[1]] });
});

Deno.test("addresses of wildcard hosts are another control plane's: they neither cause a write nor are lost by one", () => {
  const own = { host: "a.example.com", value: "240.240.0.1" };
  const others = { host: "*.example.com", value: "240.240.0.9" };
  assert.equal(assignedChange([own], { addresses: [own, others] }), undefined);
  assert.equal(assignedChange([], { addresses: [others] }), undefined);
  assert.deepEqual(assignedChange([own], { addresses: [others] }), { addresses: [own, others] });
  assert.deepEqual(ownAssigned([own, others]), [own]);
});
