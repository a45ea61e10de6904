import assert from "node:assert/strict";
import fc from "fast-check";
import { sourceFiles } from "../../scripts/imports.ts";
import { runs, seedOr } from "../properties.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

Deno.test("the values of properties are the same in each run, unless a run asks for more", () => {
  const asked = Deno.env.get("MESH_PROPERTY_RUNS");
  if (asked === undefined) {
    assert.deepEqual(fc.readConfigureGlobal(), { seed: 1 });
    assert.deepEqual([runs(5), seedOr(33)], [5, 33]);
  } else {
    assert.deepEqual([runs(1), runs(1e9)], [Number(asked), 1e9]);
    assert.equal(seedOr(33), Number(Deno.env.get("MESH_PROPERTY_SEED")));
  }
});

/** Files in which a property has the same runs everywhere, with the reason. */
const FIXED: Readonly<Record<string, string>> = {
  "tests/discovery/random_worlds_test.ts": "it looks for each form in worlds of one seed",
  "tests/orch/e2e/storms_test.ts": "a run takes seconds, as it waits out the troubles of an API server",
  "tests/scripts/property_values_test.ts": "it has no property",
};

Deno.test("a property takes more values where a run asks for more: the number of its runs is `runs(...)`", () => {
  const found = new Set<string>();
  for (const file of sourceFiles(root, ["tests"])) {
    for (const line of Deno.readTextFileSync(`${root}/${file}`).split("\n")) {
      if (/\bnumRuns: [\d_]+\s*[,}]/.test(line) && !line.includes("fc.sample(")) found.add(file);
      if (/\bget\("\w*(?:RUNS|WORLDS|SEED)"\)/.test(line) && file !== "tests/house/fixed_seed_test.ts") found.add(file);
    }
  }
  const why = "a property has numRuns: runs(50), by tests/properties.ts, or a row in FIXED with the reason";
  const [all, rows] = [[...found].sort(), Object.keys(FIXED).sort()];
  assert.deepEqual(all, rows, `${why}: found ${all.join(", ")}; rows: ${rows.join(", ")}`);
});
