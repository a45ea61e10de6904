import assert from "node:assert/strict";
import fc from "fast-check";
import { BuildCache, MAX_VARIANTS } from "../../lib/incremental/build_cache.ts";
import type { InvalidatedKeys } from "../../lib/incremental/keys.ts";
import { ResultTable } from "../../lib/incremental/result_table.ts";
import { chain, ToySource, ToyWorld } from "./toy.ts";
import { runs } from "../properties.ts";

function makeCache(enabled = true, failures: string[] = []) {
  return new BuildCache<ToySource, string, string>((recorder, name, _input, note) => chain(recorder, name, note), {
    enabled,
    fallback: "failed",
    failed: (name) => failures.push(name),
  });
}

const amber = { color: "amber", factor: 1 };

Deno.test("a result is built once for all sources for which it holds, and once more for each other answer", () => {
  const world = new ToyWorld();
  world.set("a", 3);
  const cache = makeCache();
  const of = (factor: number) => cache.get("a", new ToySource(world, { color: "amber", factor }), undefined).value;
  assert.deepEqual([of(1), of(2), of(1), of(2)], ["3+0+0+0", "6+0+0+0", "3+0+0+0", "6+0+0+0"]);
  assert.deepEqual(cache.counts, { built: 2, reused: 2, dropped: 0, crowdedOut: 0 });
});

Deno.test("a change drops the results that read the changed keys, and no others", () => {
  const world = new ToyWorld();
  for (const name of ["a", "b", "x"]) world.set(name, 1);
  const cache = makeCache();
  const source = new ToySource(world, amber);
  for (const name of ["a", "b", "x"]) cache.get(name, source, undefined);
  assert.deepEqual(cache.invalidate(world.set("b", 5)), new Set(["a", "b"]));
  assert.equal(cache.size, 1);
  assert.equal(cache.get("a", source, undefined).value, "1+5");
  assert.deepEqual(cache.invalidate(world.set("x*", 4)), new Set(["x"]), "a pattern stands for all names under it");
  assert.equal(cache.dependencies, 2, "a and b; what nothing depends on any more is forgotten");
});

Deno.test("a builder that throws costs its result alone, and is tried again with the next change", () => {
  const world = new ToyWorld();
  world.set("a", 13);
  world.set("b", 1);
  const failures: string[] = [];
  const cache = makeCache(true, failures);
  const source = new ToySource(world, amber);
  const failed = cache.get("a", source, undefined);
  assert.equal(failed.failed, true);
  assert.equal(failed.value, "failed");
  assert.equal(cache.get("a", source, undefined), failed, "it is not built again while nothing changes");
  assert.deepEqual(failures, ["a"]);
  cache.get("b", source, undefined);
  assert.deepEqual(cache.invalidate(world.set("z", 1)), new Set(["a"]), "with any change");
});

Deno.test("inputs are compared by the cache's rule", () => {
  const cache = new BuildCache<ToySource, string, never, readonly string[]>(
    (_recorder, name, input) => name + input.join(""),
    {
      enabled: true,
      fallback: "",
      failed: () => {},
      sameInput: (a, b) => a.join() === b.join(),
    },
  );
  const source = new ToySource(new ToyWorld(), amber);
  const first = cache.get("n", source, ["x"]);
  assert.equal(cache.get("n", source, ["x"]), first);
  assert.equal(cache.get("n", source, ["y"]).value, "ny");
  assert.equal(cache.size, 2);
});

Deno.test("of one name so many results are kept and no more, and dropped results no longer count as dependents", () => {
  const world = new ToyWorld();
  world.set("a", 3);
  const cache = makeCache();
  for (let factor = 0; factor < MAX_VARIANTS + 5; factor++) {
    cache.get("a", new ToySource(world, { color: "amber", factor }), undefined);
  }
  assert.equal(cache.size, MAX_VARIANTS);
  assert.equal(cache.counts.crowdedOut, 5);
  cache.sweep(() => false);
  assert.equal(cache.size, 0);
  assert.equal(cache.dependencies, 0);
});

Deno.test("findings of builders go with their results", () => {
  const world = new ToyWorld();
  world.set("a", 0);
  const cache = makeCache();
  const source = new ToySource(world, amber);
  cache.get("a", source, undefined);
  assert.deepEqual([...cache.notes()], ["a is zero"]);
  cache.invalidate(world.set("a", 1));
  cache.get("a", source, undefined);
  assert.deepEqual([...cache.notes()], []);
});

Deno.test("after a builder throws, a table keeps the last result; a copy for another source keeps no result", () => {
  const world = new ToyWorld();
  world.set("a", 1);
  const cache = makeCache();
  const source = new ToySource(world, amber);
  const look = { source, exists: () => true, onResult: () => {}, keeps: true };
  const table = new ResultTable(cache);
  table.update(["a"], look);
  cache.invalidate(world.set("a", 13));
  assert.deepEqual(table.update(["a"], look), []);
  assert.equal(table.results.get("a")?.value, "1+0");
  const copy = new ResultTable(cache, table);
  assert.deepEqual(copy.update(["a"], { ...look, keeps: false }), [{ name: "a", before: "1+0", after: "failed" }]);
});

const letters = ["a", "b", "c", "d", "e", "c*", "*"] as const;
const step = fc.record({
  name: fc.constantFrom(...letters),
  number: fc.option(fc.constantFrom(0, 1, 2, 3, 13), { nil: undefined }),
  color: fc.constantFrom(undefined, "amber", "blue"),
  /** Whether everybody looks before the next change. */
  look: fc.boolean(),
});

/** The sources. The first two belong to the same view and see the same. */
function sources(world: ToyWorld): ToySource[] {
  const view = {};
  return [
    new ToySource(world, { color: "amber", factor: 1 }, view),
    new ToySource(world, { color: "amber", factor: 2 }, view),
    new ToySource(world, { color: "blue", factor: 1 }),
  ];
}

Deno.test("after any changes every source has the results of a fresh build, whether they are shared or not", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), fc.boolean(), (steps, enabled) => {
      const world = new ToyWorld();
      const cache = makeCache(enabled);
      const groups = sources(world).map((source) => ({ source, table: new ResultTable(cache) }));
      const names = new Set<string>();
      const lookAll = (dirty: Iterable<string>) => {
        for (const { source, table } of groups) {
          table.update(dirty, {
            source,
            exists: (name) => source.number(name) !== undefined,
            onResult: () => {},
            keeps: true,
          });
        }
      };
      const waiting = new Set<string>();
      const changed = (keys: InvalidatedKeys, name: string) => {
        for (const dropped of cache.invalidate(keys)) waiting.add(dropped);
        for (const letter of letters) {
          if (name.endsWith("*") ? letter.startsWith(name.slice(0, -1)) : letter === name) waiting.add(letter);
        }
      };
      for (
        const { name, number, color, look } of [...steps, {
          name: "a",
          number: 1,
          color: undefined,
          look: true,
        }] as const
      ) {
        changed(world.set(name, number, color), name);
        names.add(name);
        if (!look) continue;
        lookAll(waiting);
        waiting.clear();
      }
      const fresh = makeCache(false);
      for (const { source, table } of groups) {
        for (const name of letters) {
          const there = table.results.get(name);
          if (source.number(name) === undefined) assert.equal(there, undefined, name);
          else {
            const expected = fresh.get(name, source, undefined);
            // A failed build leaves the earlier result in the table, if any.
            if (expected.failed) assert.ok(there, name);
            else assert.equal(there?.value, expected.value, name);
          }
        }
      }
    }),
    { numRuns: runs(500) },
  );
});
