/** The answer about sizes rests on measured rows: exact at a row, on the line between rows, and honest beyond. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { measurementsOf } from "../../scripts/gen_sizing.ts";
import { replicasFor, sizeAnswer, type SizeQuestion } from "../../lib/sizing/answer.ts";
import { valueAt } from "../../lib/sizing/interpolate.ts";
import { MEASURED } from "../../lib/sizing/measured.ts";
import { figureOf, type Measurements } from "../../lib/sizing/measurement.ts";
import { suggestedResources } from "../../lib/sizing/resources.ts";
import { type Series, WORKS } from "../../lib/sizing/series.ts";

const page = Deno.readTextFileSync(new URL("../../docs/benchmarks.md", import.meta.url));

Deno.test("the rows equal the rows of the page of benchmarks (deno task sizing)", () => {
  assert.deepEqual(MEASURED, measurementsOf(page));
  assert.deepEqual(new Set(Object.keys(MEASURED.works)), WORKS, "each work is on the page");
});

Deno.test("the value of a figure from several runs is the median", () => {
  const text = "\n## Machine\n\n- date: now\n\n## Figures\n\n| Work | Figure | Measured |\n| --- | --- | --- |\n" +
    "| 100 proxies, delta, gzip: all connect | CPU | 0.71 CPU s (0.66-1.80) |\n| | at peak | 207 MiB (200-210) |\n";
  const made = measurementsOf(text);
  assert.deepEqual(made.machine, { date: "now" });
  assert.deepEqual(made.works, {
    "100 proxies, delta, gzip: all connect": { CPU: "0.71 CPU s", "at peak": "207 MiB" },
  });
  assert.equal(figureOf(made, "100 proxies, delta, gzip: all connect", "CPU").value, 0.71);
});

Deno.test("a work or a figure that is missing on the page is an error with both names", () => {
  assert.throws(() => figureOf(MEASURED, "work of yesterday", "CPU"), /"work of yesterday", figure "CPU"/);
});

const toy: Measurements = {
  machine: {},
  works: { a: { m: "100 MiB" }, b: { m: "300 MiB" }, most: { m: "220 MiB" } },
};
const series: Series = {
  byProxies: [{ at: 0, work: "a", figure: "m" }, { at: 400, work: "b", figure: "m" }],
  most: { at: 5000, work: "most", figure: "m" },
};
const at = (services: number, proxies: number) => valueAt(toy, series, { services, proxies });

Deno.test("at a measured size the value is the measured value", () => {
  const cases = [[1000, 0, 100, ["a"]], [1000, 400, 300, ["b"]], [5000, 40, 220, ["a", "b", "most"]]] as const;
  for (const [services, proxies, value, works] of cases) {
    const found = at(services, proxies);
    assert.deepEqual([found.value, found.bound, found.assumes], [value, "about", ""]);
    assert.deepEqual(found.rows.map(({ work }) => work), works);
  }
});

Deno.test("between two rows the value is on the line through both", () => {
  assert.equal(at(1000, 100).value, 150);
  assert.equal(at(3000, 40).value, 170, "half of the way from 120 to 220");
});

Deno.test("below the smallest measured mesh the value is a bound from above, beyond the largest one from below", () => {
  assert.deepEqual([at(10, 100).value, at(10, 100).bound], [150, "at most"]);
  assert.deepEqual([at(1000, 9000).value, at(1000, 9000).bound], [300, "at least"]);
  assert.deepEqual([at(10, 9000).value, at(10, 9000).bound], [300, "at least"]);
  assert.deepEqual([at(50_000, 40).value, at(50_000, 40).bound], [220, "at least"]);
});

Deno.test("a value between the two measured axes names its assumption", () => {
  assert.match(at(2000, 41).assumes, /was not measured/);
  assert.equal(at(2000, 40).assumes, "");
});

const questions: fc.Arbitrary<SizeQuestion> = fc.record({
  services: fc.integer({ min: 1, max: 20_000 }),
  proxies: fc.integer({ min: 1, max: 20_000 }),
  changesPerMinute: fc.integer({ min: 0, max: 600 }),
  replicas: fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }),
});

Deno.test("more services or more proxies never need less, and no figure is extrapolated (property)", () => {
  fc.assert(fc.property(questions, fc.nat(5000), fc.nat(5000), (small, services, proxies) => {
    const replicas = small.replicas ?? replicasFor(small.proxies);
    const large = { ...small, replicas, services: small.services + services, proxies: small.proxies + proxies };
    const [less, more] = [sizeAnswer(MEASURED, { ...small, replicas }), sizeAnswer(MEASURED, large)];
    less.lines.forEach(({ id, estimate }, index) => {
      assert.ok(more.lines[index]!.estimate.value >= estimate.value - 1e-9, id);
    });
    if (more.proxiesOfReplica > 400 || large.services > 5000) {
      const { limit } = suggestedResources(more);
      assert.equal(limit, undefined, "no limit for a size that nobody measured");
    }
  }));
});

Deno.test("with the answer's replicas no server has more proxies than were measured while one is away (property)", () => {
  fc.assert(fc.property(fc.integer({ min: 1, max: 100_000 }), (proxies) => {
    const { replicas, proxiesOfReplica } = sizeAnswer(MEASURED, {
      ...{ services: 100, changesPerMinute: 1, proxies },
      replicas: undefined,
    });
    assert.ok(replicas >= 2 && proxiesOfReplica <= 400, `${replicas} replicas, ${proxiesOfReplica} proxies`);
  }));
});

Deno.test("the limit of memory is above the highest measured figure, a reconnect of all proxies", () => {
  const answer = sizeAnswer(MEASURED, { services: 1000, proxies: 400, changesPerMinute: 10, replicas: undefined });
  const reconnect = figureOf(
    MEASURED,
    "400 proxies, delta, gzip, mutual TLS: all reconnect with what they have",
    "at peak",
  );
  const { request, limit } = suggestedResources(answer);
  assert.ok(limit! > reconnect.value && request < limit!);
});
