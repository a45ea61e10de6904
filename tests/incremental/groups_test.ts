import assert from "node:assert/strict";
import fc from "fast-check";
import { BuildCache } from "../../lib/incremental/build_cache.ts";
import { GroupBase, type GroupModel, GroupPool, type ResultGroup } from "../../lib/incremental/groups.ts";
import { ResultTable } from "../../lib/incremental/result_table.ts";
import { chain, ToySource, ToyWorld } from "./toy.ts";
import { runs } from "../properties.ts";

type ToyCache = BuildCache<ToySource, string, string>;
type Stale = ReadonlySet<string>;

const LETTERS = ["a", "b", "c", "d"] as const;

/** The chains of all letters. */
class Chains extends GroupBase<ToySource> implements ResultGroup<ToySource, Stale> {
  readonly #table: ResultTable<ToySource, string, string>;
  /** Number of look-ups while the group was made. */
  readonly lookedAt: number;

  constructor(source: ToySource, cache: ToyCache, model: GroupModel<Chains> | undefined) {
    super(source);
    this.#table = new ResultTable(cache, model ? model.like.#table : undefined);
    const look = this.#begin(model?.inherits);
    const names = new Set(model?.difference ? this.#table.unlike(look, model.difference) : LETTERS);
    this.lookedAt = names.size;
    this.#table.update(names, look);
  }

  update(stale: Stale): void {
    this.#table.update(stale, this.#begin());
  }

  #begin(keeps?: boolean) {
    return this.look((name) => this.source.number(name) !== undefined, keeps);
  }

  get contents(): Record<string, string> {
    return Object.fromEntries([...this.#table.results].map(([name, { value }]) => [name, value]));
  }
}

/** A world with all its sources, grouped. */
class Fixture {
  readonly world = new ToyWorld();
  readonly cache: ToyCache;
  readonly pool: GroupPool<ToySource, Stale, Chains>;
  readonly #views: Readonly<Record<string, object>> = { amber: {}, blue: {} };
  readonly members = new Map<ToySource, Chains>();

  constructor(enabled = true) {
    this.cache = new BuildCache((recorder, name, _input, note) => chain(recorder, name, note), {
      enabled,
      fallback: "failed",
      failed: () => {},
    });
    this.pool = new GroupPool((source, model) => new Chains(source, this.cache, model));
  }

  join(color: string, factor: number): Chains {
    const source = new ToySource(this.world, { color, factor }, this.#views[color]);
    const group = this.pool.find(source);
    this.members.set(source, group);
    return group;
  }

  set(name: string, number: number | undefined, color?: string): void {
    const stale = this.cache.invalidate(this.world.set(name, number, color));
    for (const letter of LETTERS) stale.add(letter);
    this.pool.update(stale);
    for (const [source, group] of this.members) {
      if (!this.pool.holds(group, source)) this.members.set(source, this.pool.find(source, group));
    }
  }
}

Deno.test("sources of one view with the same answers share a group, until results ask a query that they answer differently", () => {
  const fixture = new Fixture();
  fixture.set("a", 1);
  const one = fixture.join("amber", 1);
  assert.equal(fixture.join("amber", 2), one, "the factor was not asked");
  assert.notEqual(fixture.join("blue", 1), one, "another view");
  fixture.set("b", 3);
  const groups = [...fixture.members.values()];
  assert.notEqual(groups[0], groups[1]);
  assert.deepEqual(groups.map(({ contents }) => contents.b), ["3+0+0+0", "6+0+0+0", "3+0+0+0"]);
});

Deno.test("a group of a view that has one looks only at the results that asked a query that it answers differently", () => {
  const fixture = new Fixture();
  for (const [i, letter] of LETTERS.entries()) fixture.set(letter, i);
  assert.equal(fixture.join("amber", 1).lookedAt, 4);
  assert.equal(fixture.join("amber", 2).lookedAt, 1, "d alone asks for the factor");
  assert.equal(fixture.join("blue", 1).lookedAt, 4);
});

Deno.test("after a builder throws, sources keep their results when their group splits, and new sources have no results", () => {
  const fixture = new Fixture();
  fixture.set("a", 1);
  fixture.join("amber", 1);
  fixture.join("amber", 2);
  fixture.set("a", 13);
  fixture.set("b", 3);
  const [one, two] = [...fixture.members.values()];
  assert.notEqual(one, two);
  assert.deepEqual([one?.contents, two?.contents], [{ a: "1+0", b: "3+0+0+0" }, { a: "1+0", b: "6+0+0+0" }]);
  assert.ok(one?.failing && two?.failing);
  assert.equal(fixture.join("amber", 3).contents.a, "failed");
  fixture.set("a", 2);
  assert.deepEqual([...fixture.members.values()].map(({ contents }) => contents.a), ["2+3+0", "2+3+0", "2+3+0"]);
});

Deno.test("groups that are dropped are found no more", () => {
  const fixture = new Fixture();
  const group = fixture.join("amber", 1);
  fixture.pool.drop(() => true);
  assert.deepEqual([...fixture.pool], []);
  const source = [...fixture.members.keys()][0]!;
  assert.ok(!fixture.pool.holds(group, source));
  assert.notEqual(fixture.pool.find(source), group);
});

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      name: fc.constantFrom(...LETTERS, "c*", "*"),
      number: fc.option(fc.constantFrom(0, 1, 2, 3), { nil: undefined }),
      color: fc.constantFrom(undefined, "amber", "blue"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ color: fc.constantFrom("amber", "blue"), factor: fc.constantFrom(1, 2) }) },
);

Deno.test("after any changes and joins, every source has the results that it would have alone", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), fc.boolean(), (steps, enabled) => {
      const fixture = new Fixture(enabled);
      for (const step of steps) {
        if ("name" in step) fixture.set(step.name, step.number, step.color);
        else fixture.join(step.color, step.factor);
      }
      for (const [source, group] of fixture.members) {
        const alone = new ToySource(fixture.world, source.properties);
        assert.deepEqual(group.contents, new Chains(alone, new Fixture(false).cache, undefined).contents);
      }
    }),
    { numRuns: runs(500) },
  );
});
