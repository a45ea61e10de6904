/**
 * The benchmarks of the whole server: `deno task bench`.
 *
 *     deno task bench                    everything, three runs of each
 *     deno task bench --only NAME        the scenarios whose names begin so (may be repeated)
 *     deno task bench --quick            small sizes, one run: to see that it works
 *     deno task bench --runs N --rounds N
 *     deno task bench --against FOLDER   compares this tree with the one in a folder: runs of both in turn, seven pairs
 *                                        with --raw without calibrations: a third of the time, for ratios alone
 *     deno task bench --profile FOLDER   one CPU profile a server in a folder (`profile.ts` shows it)
 *     deno task bench --write            also into docs/benchmarks.md, and the rows behind `pilot-discovery size`
 *     deno task bench --json FILE        also the raw rows
 *
 * The variable `ISTIO_DISCOVERY` names Istio's program, to be measured beside this one where a row does so.
 *
 * Permissions: run (this runtime, cat), net (loopback), read, write (temporary folder, docs/benchmarks.md, lib/sizing), sys (machine facts).
 *
 * @module
 */
import { parseArgs } from "node:util";
import { writeMeasured } from "../../../scripts/gen_sizing.ts";
import { Calibrator } from "./calibrator.ts";
import { runPairs } from "./compare.ts";
import { machineFacts } from "./machine.ts";
import { LEAST_PAIRS } from "./pairs.ts";
import { joinRuns, type Row } from "./result.ts";
import { SCENARIOS } from "./scenarios/mod.ts";
import type { RunOptions, Scenario } from "./scenarios/scenario.ts";
import { missed, page, showFigure, showTarget } from "./table.ts";
import { plots } from "./headlines.ts";

const OPTIONS = {
  only: { type: "string", multiple: true, default: [] as string[] },
  quick: { type: "boolean", default: false },
  runs: { type: "string" },
  rounds: { type: "string" },
  against: { type: "string" },
  raw: { type: "boolean", default: false },
  profile: { type: "string" },
  write: { type: "boolean", default: false },
  json: { type: "string" },
} as const;

const given = readOptions();

const chosen = SCENARIOS.filter(({ name }) => given.only.length === 0 || given.only.some((o) => name.startsWith(o)));
if (chosen.length === 0) {
  fail(`--only: got ${given.only.join(", ")}, expected one of ${SCENARIOS.map((s) => s.name).join(", ")}`);
}
if (given.against !== undefined && given.write) fail("--write: got --against too, expected one of both");
if (given.raw && given.against === undefined) fail("--raw: got no --against, expected one: figures need calibrations");
const { quick } = given;
const facts = {
  machine: machineFacts(),
  runs: count("runs", quick ? 1 : given.against === undefined ? 3 : LEAST_PAIRS),
  rounds: count("rounds", quick ? 2 : 5),
  quick,
};
const options: RunOptions = {
  ...facts,
  calibrator: given.raw ? Calibrator.none() : new Calibrator(),
  ...given.profile !== undefined && { profile: given.profile },
};
console.log(Object.entries(facts.machine).map(([name, value]) => `${name}: ${value}`).join("\n"));
if (given.against === undefined) await measure(chosen);
else await compare(chosen, await Deno.realPath(given.against));

function readOptions() {
  try {
    return parseArgs({ args: Deno.args, options: OPTIONS }).values;
  } catch (error) {
    const known = Object.keys(OPTIONS).map((name) => `--${name}`).join(", ");
    return fail(`${(error as Error).message}; expected ${known}, as the head of tests/bench/mesh/main.ts says`);
  }
}

/** Measures this tree. */
async function measure(scenarios: readonly Scenario[]): Promise<never> {
  const runs: Row[][] = [];
  let failures = 0;
  for (let run = 1; run <= facts.runs; run++) {
    for (const scenario of scenarios) {
      console.log(`\nrun ${run} of ${facts.runs}: ${scenario.name}`);
      try {
        const rows = await scenario.run(options);
        runs.push(rows);
        for (const row of rows) show(row);
      } catch (error) {
        failures++;
        console.error(`  failed: ${error instanceof Error ? error.stack : error}`);
      }
    }
  }
  // Each run has its scenarios in the table's order, so first occurrences of rows are also in order.
  const rows = joinRuns(runs);
  console.log(`\n${missed(rows)}`);
  if (given.json !== undefined) await Deno.writeTextFile(given.json, JSON.stringify({ facts, rows }, null, 1));
  if (given.write && failures > 0) console.error("docs/benchmarks.md is not written: a scenario failed");
  else if (given.write) {
    const path = new URL("../../../docs/benchmarks.md", import.meta.url).pathname;
    await Deno.writeTextFile(path, page(rows, facts));
    for (const { name, svg } of plots(rows)) {
      await Deno.writeTextFile(new URL(`../../../docs/benchmarks/${name}.svg`, import.meta.url), svg);
    }
    await new Deno.Command(Deno.execPath(), { args: ["fmt", "--quiet", path] }).output();
    await writeMeasured();
  }
  Deno.exit(failures > 0 ? 1 : 0);
}

/** Compares this tree with another. */
async function compare(scenarios: readonly Scenario[], tree: string): Promise<never> {
  const found = await runPairs(scenarios, { ...options, tree }, facts.runs, console.log);
  if (given.json !== undefined) await Deno.writeTextFile(given.json, JSON.stringify({ facts, ...found }, null, 1));
  Deno.exit(found.failures > 0 || found.comparisons.some(({ verdict }) => verdict === "worse") ? 1 : 0);
}

function show({ work, figures, calibrations, note }: Row): void {
  console.log(`  ${work}`);
  console.log(`    calibration ${calibrations.map((cpu) => cpu.toFixed(3)).join(", ")} CPU s`);
  for (const figure of figures) {
    console.log(`    ${showFigure(figure, calibrations).padEnd(56)} ${showTarget(figure, calibrations)}`);
  }
  if (note !== undefined) console.log(`    ${note}`);
}

function count(name: "runs" | "rounds", byDefault: number): number {
  const value = Number(given[name] ?? byDefault);
  if (Number.isInteger(value) && value > 0) return value;
  fail(`--${name}: got ${given[name]}, expected a whole number above 0`);
}

function fail(message: string): never {
  console.error(message);
  Deno.exit(1);
}
