import assert from "node:assert/strict";
import { REFERENCE } from "./calibration.ts";
import { comparePairs } from "./pairs.ts";
import type { Figure, Row } from "./result.ts";
import { HEADLINES, plots } from "./headlines.ts";
import { missed, page, showComparison, showFigure, showTarget, tables } from "./table.ts";

/** A row of runs on the reference machine. */
const row = (...cpu: number[]): Row => ({
  id: "a",
  work: "all connect",
  istio: "54 CPU s",
  figures: [
    { name: "", unit: "CPU s", values: cpu, atMost: 2 },
    { name: "on the wire", unit: "MB", values: cpu.map(() => 120) },
  ],
  calibrations: cpu.map(() => REFERENCE),
});

Deno.test("each figure is a line with its spread, at reference speed, and with its target judged raw and at reference", () => {
  const slow = { ...row(1.5, 3.5, 1.75), calibrations: [1, 1, 1].map(() => REFERENCE / 2) };
  const lines = tables([slow]).trimEnd().split("\n");
  assert.equal(lines[0], "### Others");
  assert.equal(lines[2], "| Work | Figure | Measured | At reference | Target | Met | Met at reference | Istio |");
  assert.deepEqual(lines.slice(4), [
    "| all connect | CPU | 1.75 CPU s (1.50-3.50) | 3.50 CPU s | <= 2 CPU s | met | **missed** | 54 CPU s |",
    "|  | on the wire | 120 MB (120-120) |  |  |  |  |  |",
  ]);
});

Deno.test("rows stand below their subjects, each row once", () => {
  const works = ["400 proxies, delta, gzip: all connect", "RSA-2048: 16 requests", "an agent beside an idle Envoy"];
  const text = tables(works.map((work) => ({ ...row(1), work })));
  assert.deepEqual([...text.matchAll(/^### (.*)$/gm)].map(([, title]) => title), [
    "400 proxies",
    "Certificates",
    "The agent",
  ]);
  for (const work of works) assert.equal(text.split(`| ${work} |`).length, 2, work);
});

Deno.test("the page begins with headlines beside Istio's figures, and two plots show them", () => {
  const { work, istio } = HEADLINES[0]!;
  const rows = [{ ...row(2), work }];
  const facts = { machine: {}, runs: 1, rounds: 5, quick: false };
  assert.match(page(rows, facts), /\| 400 proxies connect: CPU \| 54 CPU s \| 2 CPU s \| 1 : 27 \|/);
  const [cpu] = plots(
    rows.map((one) => ({ ...one, figures: [...one.figures, { name: "last proxy", unit: "ms", values: [1] }] })),
  );
  assert.match(cpu!.svg, new RegExp(`Istio ${istio} CPU s</text>`));
  assert.match(cpu!.svg, />2 CPU s<\/text>/);
});

Deno.test("a time on a machine of half the speed is shown as measured, and judged as it would be at reference speed", () => {
  const figure: Figure = { name: "", unit: "CPU s", values: [3], atMost: 2 };
  assert.equal(showFigure(figure, [2 * REFERENCE]), "3.00 CPU s -> 1.50");
  assert.equal(showTarget(figure, [2 * REFERENCE]), "<= 2 CPU s: met");
  assert.equal(showTarget(figure, [REFERENCE]), "<= 2 CPU s: **missed**");
});

Deno.test("small CPU times keep three digits, and a single value has no spread", () => {
  const figure: Figure = { name: "", unit: "CPU s", values: [0.034] };
  assert.equal(showFigure(figure, [REFERENCE]), "0.034 CPU s -> 0.034");
  assert.equal(showTarget({ ...figure, atMost: 0.01 }, [REFERENCE]), "<= 0.01 CPU s: **missed**");
  assert.equal(showTarget(figure, [REFERENCE]), "");
});

Deno.test("a bar in a text does not end its cell", () => {
  assert.match(tables([{ ...row(1), work: "a | b" }]), /\| a \\\| b \|/);
});

Deno.test("the page names the missed targets, the machine, and that Istio was measured elsewhere", () => {
  const facts = { machine: { processor: "two cores" }, runs: 2, rounds: 5, quick: false };
  const text = page([row(3)], facts);
  assert.match(text, /- processor: two cores/);
  assert.match(text, /1 of 1 targets are missed:\n\n- all connect: 3.00 CPU s -> 3.00, <= 2 CPU s: \*\*missed\*\*/);
  assert.match(text, /another time and another tool/);
  assert.doesNotMatch(text, /quick run/);
  assert.match(page([row(1)], { ...facts, quick: true }), /quick run/);
  assert.equal(missed([row(1)]), "All 1 targets are met.");
  assert.equal(missed([]), "No target was measured.");
});

Deno.test("a comparison shows its verdict, the ratio with its spread and without calibration, and both medians", () => {
  const pairs = [1.1, 1.2, 1.3].map((cpu) => ({ here: [row(cpu)], there: [row(1)] }));
  assert.equal(showComparison(comparePairs(pairs)[0]!), "worse:  1.20 (1.10-1.30)    raw 1.20    1.20 / 1.00 CPU s");
});
