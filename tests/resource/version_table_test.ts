import assert from "node:assert/strict";
import fc from "fast-check";
import { encodeResource } from "../../lib/resource/encoded.ts";
import { type ResourceSet, ResourceTable } from "../../lib/resource/set.ts";
import { fieldSize, putField, utf8Bytes } from "../../lib/resource/protowire.ts";
import { clientState } from "../../lib/xds/ads/set_stack.ts";
import { KnownVersions } from "../../lib/xds/ads/request.ts";
import { runs } from "../properties.ts";

const TYPE = "type.googleapis.com/test.Type";
/** Names beyond ASCII, long names (the length takes two bytes), and an empty name. */
const name = fc.constantFrom("", "a", "b", "ä", "日本", "x".repeat(200), "outbound|80||a.com");
const resource = fc.tuple(name, fc.nat(2)).map(([name, value]) => encodeResource(TYPE, name, new Uint8Array([value])));

/** A field 5 of a request as clients write it, with its fields in the usual or the other order. */
function entryOf(name: string, version: string, turned: boolean): Uint8Array {
  const fields = [[1, utf8Bytes(name)], [2, utf8Bytes(version)]] as const;
  const entry = new Uint8Array(fields.reduce((sum, [, bytes]) => sum + fieldSize(bytes.length), 0));
  let at = 0;
  for (const [number, bytes] of turned ? fields.toReversed() : fields) at = putField(entry, at, number, bytes);
  const field = new Uint8Array(fieldSize(entry.length));
  putField(field, 0, 5, entry);
  return field;
}

Deno.test("a client's report is compared by name and version, however it is written, in every set", () => {
  const table = new ResourceTable();
  const entry = fc.record({
    name,
    version: fc.oneof(resource.map(({ version }) => version), fc.string({ maxLength: 9 })),
    turned: fc.boolean(),
  });
  const sets = fc.tuple(fc.array(resource), fc.array(resource)).map(([first, second]) => {
    const lower = table.from(first);
    return [lower, table.from(second.filter(({ name }) => !lower.has(name)))];
  });
  fc.assert(fc.property(sets, fc.array(entry), (sets, entries) => {
    const want = sets.map((set, i) => ({ group: "", key: `${i}`, set }));
    const run = new Uint8Array(entries.flatMap((e) => [...entryOf(e.name, e.version, e.turned)]));
    const known = clientState(want, new KnownVersions(run));
    const all = sets.flatMap((set) => [...set]);
    const same = all.filter((r) => entries.some((e) => e.name === r.name && e.version === r.version));
    assert.deepEqual(new Set(known.stack.flatMap(({ set }) => [...set])), new Set(same));
    const unknown = entries.filter((e) => !all.some((r) => r.name === e.name)).map((e) => e.name);
    assert.deepEqual(known.absent, unknown);
    assert.equal(known.stack === want, same.length === all.length);
  }));
});

Deno.test("a long report in the order of the sets is compared as one in any order, with what changed, is gone or comes twice", () => {
  const table = new ResourceTable();
  const [lower, upper] = [0, 1].map((part) =>
    table.from(Array.from({ length: 300 }, (_, i) => encodeResource(TYPE, `name ${i}.${part}`, new Uint8Array([1]))))
  ) as [ResourceSet, ResourceSet];
  const want = [lower, upper].map((set, i) => ({ group: "", key: `${i}`, set }));
  const all = [...lower, ...upper];
  const edit = fc.record({ at: fc.nat(all.length - 1), how: fc.constantFrom("changed", "gone", "twice", "moved") });
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 5 }), (edits) => {
      const entries = all.map(({ name, version }) => ({ name, version }));
      for (const { at, how } of edits) {
        if (at >= entries.length) continue;
        const one = entries[at]!;
        if (how === "changed") entries[at] = { ...one, version: "another one" };
        else entries.splice(at, how === "twice" ? 0 : 1, ...how === "twice" ? [one] : []);
        if (how === "moved") entries.push(one);
      }
      const run = new Uint8Array(entries.flatMap((e) => [...entryOf(e.name, e.version, false)]));
      const known = clientState(want, new KnownVersions(run));
      const reported = new Set(entries.map(({ name, version }) => `${name} ${version}`));
      const same = all.filter(({ name, version }) => reported.has(`${name} ${version}`));
      assert.deepEqual(known.stack.flatMap(({ set }) => [...set]), same);
      assert.deepEqual(known.absent, []);
      assert.equal(known.stack === want, same.length === all.length);
    }),
    { numRuns: runs(50) },
  );
});

Deno.test("neither a name nor a version alone is found", () => {
  const set = new ResourceTable().from(["a", "b", "c"].map((name) => encodeResource(TYPE, name, new Uint8Array([1]))));
  for (const [at, { name, version }] of set.list.entries()) {
    assert.equal(set.versions.findText(name, version), at);
    assert.equal(set.versions.findText(`${name}x`, version), -1);
    assert.equal(set.versions.findText(name, set.list[(at + 1) % 3]!.version), -1);
  }
});
