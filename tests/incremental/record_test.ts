import assert from "node:assert/strict";
import { AskedProperties, PropertyCheck, PropertyTree } from "../../lib/incremental/properties.ts";
import { type OwnQuery, Recorder, type SourceQuery } from "../../lib/incremental/read_record.ts";
import { InvalidatedKeys } from "../../lib/incremental/keys.ts";
import { ToySource, ToyWorld } from "./toy.ts";

const amber = { color: "amber", factor: 1 };
const blue = { color: "blue", factor: 1 };

function recorder(source: ToySource, tree = new PropertyTree<{ color: string; factor: number }>()) {
  return new Recorder(source, tree);
}

/** Counts questions. */
function counted(): SourceQuery<ToySource, number | undefined> & { asked: number } {
  const query = {
    asked: 0,
    ask: (source: ToySource, name: string) => (query.asked++, source.number(name)),
    on: ["number"],
  };
  return query;
}

Deno.test("a query is asked once a build, also when there are hundreds", () => {
  const world = new ToyWorld();
  const names = Array.from({ length: 300 }, (_, i) => `n${i}`);
  names.forEach((name, i) => world.set(name, i));
  const query = counted();
  const read = recorder(new ToySource(world, amber));
  for (let round = 0; round < 3; round++) {
    assert.deepEqual(names.map((name) => read.ask(query, name)), names.map((_, i) => i));
  }
  assert.equal(query.asked, names.length);
});

Deno.test("a record holds for sources that give the same answers, and for no others", () => {
  const world = new ToyWorld();
  world.set("a", 1);
  world.set("b", 2, "amber");
  const read = recorder(new ToySource(world, amber));
  const query = counted();
  read.ask(query, "a");
  const ofA = read.record();
  assert.ok(ofA.holds(new ToySource(world, blue)), "both see a");
  read.ask(query, "b");
  const ofBoth = read.record();
  assert.ok(ofBoth.holds(new ToySource(world, { color: "amber", factor: 9 })), "the factor was not asked");
  assert.ok(!ofBoth.holds(new ToySource(world, blue)), "only amber sees b");
  read.property("factor", ({ factor }) => factor);
  assert.ok(!read.record().holds(new ToySource(world, { color: "amber", factor: 9 })));
});

Deno.test("sources of one view are not asked again for answers of the view, but for their own", () => {
  const world = new ToyWorld();
  world.set("a", 1);
  const view = {};
  const query = counted();
  const read = recorder(new ToySource(world, amber, view));
  read.ask(query, "a");
  read.property("color", ({ color }) => color);
  const record = read.record();
  assert.ok(record.holds(new ToySource(world, { color: "amber", factor: 5 }, view)));
  assert.ok(!record.holds(new ToySource(world, blue, view)));
  assert.equal(query.asked, 1);
  assert.ok(record.holds(new ToySource(world, amber, {})));
  assert.equal(query.asked, 2);
});

Deno.test("a record names the keys that its answers depend on", () => {
  const world = new ToyWorld();
  const read = recorder(new ToySource(world, amber));
  read.ask(counted(), "a");
  const record = read.record();
  assert.deepEqual([...record.keys()], [["number", "a"]]);
  const changed = (kind: string, name: string) => {
    const keys = new InvalidatedKeys();
    keys.add(kind, name);
    return record.dependsOnAny(keys);
  };
  assert.ok(changed("number", "a"));
  assert.ok(!changed("number", "today") && !changed("weather", "a"));
  const everyA = new InvalidatedKeys();
  everyA.addPattern("number", (name) => name.startsWith("a"));
  assert.ok(record.dependsOnAny(everyA));
});

Deno.test("a fact about the source is looked at again when facts of that kind changed for it, and leaves the keys alone", () => {
  let forecast = "rain";
  let asked = 0;
  const weather: OwnQuery<ToySource, string> = {
    name: "weather",
    on: "sky",
    ask: (_, { color }, part) => (asked++, `${forecast} ${color} ${part}`),
  };
  const read = recorder(new ToySource(new ToyWorld(), amber));
  assert.deepEqual([1, 2].map(() => read.askOwn(weather, "noon")), Array(2).fill("rain amber noon"));
  assert.equal(asked, 1, "once a build");
  read.property("color", ({ color }) => color);
  const record = read.record();
  assert.deepEqual([...record.keys()], []);
  const group = new AskedProperties<typeof amber>();
  group.add(record.properties);
  assert.ok(group.dependsOn((kind) => kind === "sky") && !group.dependsOn((kind) => kind === "sea"));
  forecast = "sun";
  const after = (changed: string, color: string) => {
    const isChanged = (kind: string, of: typeof amber) => kind === changed && of.color === color;
    return [record.properties, group].map((one) => one.fitsAfter(isChanged, amber));
  };
  assert.deepEqual(after("sky", "amber"), [false, false]);
  assert.deepEqual(after("sky", "blue"), [true, true], "the facts of another source changed");
  assert.deepEqual(after("sea", "amber"), [true, true], "other facts changed");
  assert.ok(!record.holds(new ToySource(new ToyWorld(), amber)));
});

Deno.test("equal answers in equal order share one list, and each list is compared once for many results", () => {
  const tree = new PropertyTree<{ color: string; factor: number }>();
  const world = new ToyWorld();
  let computed = 0;
  const color = ({ color }: { color: string }) => (computed++, color);
  const lists = Array.from({ length: 100 }, () => {
    const read = recorder(new ToySource(world, amber), tree);
    read.property("color", color);
    return read.record().properties;
  });
  assert.equal(new Set(lists).size, 1);
  computed = 0;
  const check = new PropertyCheck(blue);
  assert.ok(lists.every((list) => !check.fits(list)));
  assert.equal(computed, 1);
});

Deno.test("texts that clients choose are forgotten", () => {
  const tree = new PropertyTree<{ color: string; factor: number }>();
  const world = new ToyWorld();
  const root = tree.root;
  for (let i = 0; i < 25_000; i++) {
    const read = recorder(new ToySource(world, { color: `c${i}`, factor: 1 }), tree);
    assert.equal(read.property("color", ({ color }) => color), `c${i}`);
    assert.ok(read.record().properties.fits({ color: `c${i}`, factor: 1 }));
  }
  assert.notEqual(tree.root, root, "the tree began anew");
});

Deno.test("the queries of a group grow with each result, and new queries are reported once", () => {
  const asked = new AskedProperties<{ color: string; factor: number }>();
  const world = new ToyWorld();
  const read = recorder(new ToySource(world, amber));
  read.property("color", ({ color }) => color);
  asked.add(read.record().properties);
  asked.add(read.record().properties);
  assert.deepEqual(asked.takeFresh().map(({ key }) => key), ["color"]);
  assert.ok(asked.fits({ color: "amber", factor: 7 }));
  read.property("factor", ({ factor }) => factor);
  asked.add(read.record().properties);
  assert.deepEqual(asked.takeFresh().map(({ key }) => key), ["factor"]);
  assert.ok(!asked.fits({ color: "amber", factor: 7 }));
});

Deno.test("of many groups with one known value each, another group's source is distinguished by one query, its own source by all queries", () => {
  const COUNT = 200;
  let computed = 0;
  const groups = Array.from({ length: COUNT }, (_, own) => {
    const tree = new PropertyTree<{ color: string; factor: number }>();
    let answers = tree.root;
    for (let value = 0; value < COUNT; value++) {
      const compute = ({ factor }: { factor: number }) => (computed++, factor === value);
      answers = answers.with(`is ${value}`, compute, value === own);
    }
    const asked = new AskedProperties<{ color: string; factor: number }>();
    asked.add(answers);
    return asked;
  });
  const fitting = (factor: number) => groups.flatMap((group, at) => group.fits({ color: "", factor }) ? [at] : []);
  for (let factor = 0; factor < 20; factor++) assert.deepEqual(fitting(factor * 7), [factor * 7]);
  computed = 0;
  for (let factor = 0; factor < COUNT; factor++) assert.deepEqual(fitting(factor), [factor]);
  assert.ok(computed < 6 * COUNT * COUNT, `${computed} answers were computed for ${COUNT * COUNT} pairs`);
});
