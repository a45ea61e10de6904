import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { Block, concatBytes } from "../../lib/resource/block.ts";
import { BUCKET_TARGET } from "../../lib/resource/buckets.ts";
import { DiffTable, setBlocks } from "../../lib/resource/diff.ts";
import { type EncodedResource, encodeResource } from "../../lib/resource/encoded.ts";
import { InternedNames } from "../../lib/resource/names.ts";
import { type ResourceSet, ResourceTable } from "../../lib/resource/set.ts";
import { runs } from "../properties.ts";

const diffs = new DiffTable();
const TYPE = "type.googleapis.com/test.Type";
const resource = (name: string, value = 0) => encodeResource(TYPE, name, new Uint8Array([value]));
const contents = (set: ResourceSet) =>
  new Map([...set].map((r): [string, string] => [r.name, r.version]).sort((a, b) => a[0] < b[0] ? -1 : 1));

const change = fc.record({
  upserts: fc.array(fc.tuple(fc.nat(400), fc.nat(3)), { maxLength: 80 }),
  removed: fc.array(fc.nat(400), { maxLength: 80 }),
});

Deno.test("a set behaves like a map under any sequence of changes, and its diffs lead from each state to the next", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      const table = new ResourceTable();
      let set = table.empty;
      const model = new Map<string, EncodedResource>();
      for (const { upserts, removed } of changes) {
        const put = upserts.map(([i, value]) => resource(`r${i}`, value));
        const out = removed.map((i) => `r${i}`);
        const before = set;
        set = set.with(put, out);
        for (const name of out) model.delete(name);
        for (const r of put) model.set(r.name, r);
        assert.equal(set.size, model.size);
        assert.deepEqual(
          contents(set),
          new Map([...model].map(([n, r]): [string, string] => [n, r.version]).sort((a, b) => a[0] < b[0] ? -1 : 1)),
        );
        for (const r of model.values()) assert.equal(set.get(r.name)!.version, r.version);
        assert.equal(set.has("absent"), false);

        const diff = diffs.between(before, set);
        const replay = contents(before);
        for (const r of diff.changed) {
          assert.notEqual(replay.get(r.name), r.version, "nothing unchanged in a diff");
          replay.set(r.name, r.version);
        }
        for (const name of diff.removed) assert.ok(replay.delete(name), "only what was there is removed");
        assert.deepEqual(new Map([...replay].sort((a, b) => a[0] < b[0] ? -1 : 1)), contents(set));
        assert.equal(diff.empty, before === set);
        const bytes = diff.blocks("delta").reduce((sum, block) => sum + block.plain.length, 0);
        assert.equal(bytes, diff.changed.reduce((sum, r) => sum + r.size, 0));
      }
    }),
    { numRuns: runs(150) },
  );
});

Deno.test("with() returns the same set when no version differs", () => {
  const set = new ResourceTable().from([resource("a"), resource("b")]);
  assert.equal(set.with([resource("a")], ["c"]), set);
  assert.equal(set.with([resource("a")], ["a"]), set, "upserts win over removals");
  assert.notEqual(set.with([resource("a", 1)]), set);
});

Deno.test("sets with nearly the same content share nearly all buckets, and one change copies one bucket", () => {
  const table = new ResourceTable();
  const many = Array.from({ length: 2000 }, (_, i) => resource(`r${i}`));
  const one = table.from(many);
  const two = table.from([...many.slice(1), resource("r0", 1)].reverse());
  assert.ok(one.buckets.length >= 2000 / BUCKET_TARGET / 2);
  assert.equal(one.buckets.filter((bucket, i) => bucket !== two.buckets[i]).length, 1);
  assert.equal(new DiffTable().between(table.from(many.toReversed()), one).empty, true);
});

Deno.test("bucket numbers follow the size with hysteresis", () => {
  const table = new ResourceTable();
  let set = table.from(Array.from({ length: 1000 }, (_, i) => resource(`r${i}`)));
  const large = set.buckets.length;
  set = set.with([], Array.from({ length: 500 }, (_, i) => `r${i}`));
  assert.equal(set.buckets.length, large, "half the size keeps the buckets");
  set = set.with([], Array.from({ length: 490 }, (_, i) => `r${500 + i}`));
  assert.equal(set.buckets.length, 1);
  assert.equal(set.size, 10);
});

Deno.test("a diff is computed once per pair of sets and its byte runs are shared", () => {
  const table = new ResourceTable();
  const from = table.from([resource("a"), resource("b")]);
  const to = from.with([resource("a", 1)], ["b"]);
  assert.equal(diffs.between(from, to), diffs.between(from, to));
  assert.equal(diffs.between(from, to).blocks("sotw"), diffs.between(from, to).blocks("sotw"));
});

Deno.test("a small block is stored for the first client that wants it compressed, and compressed once for all others", () => {
  const block = new Block([new Uint8Array(2000)]);
  const [[first], [second], [third]] = [block.gzipParts, block.gzipParts, block.gzipParts];
  assert.ok(first && second && first.length > 2000 && second.length < 200);
  assert.equal(second, third);
  for (const member of [first, second]) assert.deepEqual(new Uint8Array(gunzipSync(member)), block.plain);
});

Deno.test("a large block is compressed once, for the first client and all others", () => {
  const block = new Block([new TextEncoder().encode(Array.from({ length: 9000 }, (_, i) => `${i * i}`).join())]);
  const [[first], [second]] = [block.gzipParts, block.gzipParts];
  assert.ok(first && first.length < block.size * 0.7);
  assert.equal(first, second);
  assert.deepEqual(new Uint8Array(gunzipSync(first)), block.plain);
});

Deno.test("the first content of a holder of nothing is made of the shared blocks of whole buckets", () => {
  const table = new ResourceTable();
  const set = table.from(Array.from({ length: 300 }, (_, i) => resource(`r${i}`)));
  assert.deepEqual(diffs.between(table.empty, set).blocks("delta"), setBlocks(set, "delta"));
  assert.equal(diffs.between(table.empty, set).blocks("delta")[0], setBlocks(set, "delta")[0]);
});

Deno.test("parts of a diff stay under the limit, and together are the whole", () => {
  const table = new ResourceTable();
  const to = table.from(Array.from({ length: 500 }, (_, i) => resource(`r${i}`)));
  let at: ResourceSet = table.empty;
  let parts = 0;
  const seen = new Set<string>();
  while (at !== to) {
    const part = diffs.part(at, to, 2000, "delta");
    assert.ok(concatBytes(part.diff.blocks("delta").map((b) => b.plain)).length <= 2000);
    for (const r of part.diff.changed) {
      assert.ok(!seen.has(r.name), "nothing twice");
      seen.add(r.name);
    }
    at = part.next;
    assert.ok(++parts < 100);
  }
  assert.equal(seen.size, 500);
  assert.ok(parts > 10);
});

Deno.test("parts lead from any set to any other, whatever the limit", () => {
  const indexes = fc.array(fc.tuple(fc.nat(700), fc.nat(2)), { maxLength: 700 });
  const sized = fc.record({ had: indexes, wanted: indexes, limit: fc.integer({ min: 1, max: 20_000 }) });
  fc.assert(
    fc.property(sized, ({ had, wanted, limit }) => {
      const table = new ResourceTable();
      const of = (items: readonly (readonly [number, number])[]) =>
        table.from(items.map(([i, value]) => resource(`svc.ns-${i % 7}.${i}`, value)));
      const to = of(wanted);
      let at = of(had);
      const model = contents(at);
      for (let step = 0; at !== to; step++) {
        assert.ok(step < 2000, "it ends");
        const { diff, next, bytes } = diffs.part(at, to, limit, "delta");
        assert.ok(bytes <= limit || diff.changed.length <= 1, "one resource may be larger than the limit");
        for (const { name, version } of diff.changed) model.set(name, version);
        for (const name of diff.removed) model.delete(name);
        at = next;
      }
      assert.deepEqual(new Map([...model].sort()), new Map([...contents(to)].sort()));
    }),
    { numRuns: runs(60) },
  );
});

Deno.test("parts of a large set are made of the blocks of its buckets, which other sets share", () => {
  const table = new ResourceTable();
  const to = table.from(Array.from({ length: 2000 }, (_, i) => resource(`r${i}`)));
  const shared = new Set(setBlocks(to, "delta"));
  for (const limit of [20_000, 50_000, 90_000]) {
    let at: ResourceSet = table.empty;
    while (at !== to) {
      const { diff, next } = diffs.part(at, to, limit, "delta");
      for (const block of diff.blocks("delta")) assert.ok(shared.has(block), `limit ${limit}`);
      at = next;
    }
  }
});

Deno.test("sets that differ in one namespace share the buckets of all others, and one namespace has several", () => {
  const table = new ResourceTable();
  const names = Array.from({ length: 4000 }, (_, i) => `outbound|80||svc-${i}.ns-${i % 10}.svc.cluster.local`);
  const of = (own: string) => table.from(names.map((name) => resource(name, name.includes(`.${own}.`) ? 1 : 0)));
  const [a, b] = [of("ns-1"), of("ns-2")];
  const alike = a.buckets.filter((bucket, i) => bucket === b.buckets[i]).length;
  assert.ok(alike >= a.buckets.length / 2, `${alike} of ${a.buckets.length}`);
  const lone = table.from(names.map((_, i) => resource(`svc-${i}.ns.svc.cluster.local`)));
  const used = lone.buckets.filter((bucket) => bucket.resources.length > 0).length;
  assert.ok(used >= Math.sqrt(lone.buckets.length), `${used} of ${lone.buckets.length}`);
});

Deno.test("name sets are interned, and equal runs of fields are decoded once", () => {
  const names = new InternedNames();
  assert.equal(names.of(["a", "b"]), names.of(["b", "a", "b"]));
  const run = new Uint8Array([0x1a, 1, 97, 0x1a, 1, 98]);
  assert.equal(names.decode(run), names.of(["a", "b"]));
  assert.equal(names.decode(run.slice()), names.decode(run));
  assert.equal(names.union(names.of(["a"]), names.of(["b"])), names.of(["a", "b"]));
  assert.equal(names.minus(names.of(["a", "b"]), names.of(["b"])), names.of(["a"]));
  assert.equal(names.minus(names.of(["a"]), names.of(["a"])), names.empty);
});

Deno.test("selecting all names of a set gives the set itself; selecting and excluding split it", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(200)), fc.uniqueArray(fc.nat(200)), (held, asked) => {
      const table = new ResourceTable();
      const names = new InternedNames();
      const set = table.from(held.map((i) => resource(`r${i}`)));
      const selected = names.of(asked.map((i) => `r${i}`)).select(set);
      const excluded = names.of(asked.map((i) => `r${i}`)).exclude(set);
      assert.deepEqual(
        [...contents(selected).keys()],
        held.filter((i) => asked.includes(i)).map((i) => `r${i}`).sort(),
      );
      assert.equal(selected.size + excluded.size, set.size);
      assert.equal(names.of([...set].map((r) => r.name)).select(set), set);
    }),
    { numRuns: runs(100) },
  );
});

Deno.test("aliases select a resource", () => {
  const table = new ResourceTable();
  const set = table.from([encodeResource(TYPE, "a", new Uint8Array(1), { aliases: ["x"] }), resource("b")]);
  assert.deepEqual([...contents(new InternedNames().of(["x"]).select(set)).keys()], ["a"]);
});

Deno.test("a resource with the same bytes and another cause is another one: nothing is sent, and the bytes are shared", () => {
  const table = new ResourceTable();
  const caused = (name: string, ...causes: string[]) => encodeResource("t", name, new Uint8Array([1]), { causes });
  const one = table.from([caused("a", "x"), caused("b", "y")]);
  assert.equal(one.with([caused("a", "x")]), one, "the same cause changes nothing");
  const other = one.with([caused("a", "z")]);
  assert.deepEqual([one.get("a")!.causes, other.get("a")!.causes], [["x"], ["z"]]);
  assert.equal(other.digest, one.digest);
  assert.ok(diffs.between(one, other).empty && diffs.between(other, one).empty);
  for (const form of ["delta", "sotw"] as const) assert.equal(setBlocks(other, form)[0], setBlocks(one, form)[0]);
  const back = other.with([caused("a", "x")]);
  assert.deepEqual(back.get("a")!.causes, ["x"]);
  assert.equal(setBlocks(back, "delta")[0], setBlocks(one, "delta")[0]);
});
