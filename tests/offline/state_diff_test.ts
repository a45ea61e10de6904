/** Changes of many proxies: the same as name by name, and shared parts are compared once. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { changeId, type ResourceChange, StateDiffs, type StateSnapshot } from "../../lib/offline/diff/state_diff.ts";
import { encodeResource } from "../../lib/resource/encoded.ts";
import { type ResourceSet, ResourceTable } from "../../lib/resource/set.ts";
import { CLUSTER } from "../../lib/xds/protocol/types.ts";

const table = new ResourceTable();

/** A set with the given versions by name; 0: the name is missing. */
function setOf(versions: readonly number[]): ResourceSet {
  return table.from(
    versions.flatMap((version, at) =>
      version === 0 ? [] : [encodeResource(CLUSTER, `c${at}`, new Uint8Array([version]))]
    ),
  );
}

/** The version in force by name: the last set with the name wins. */
function winners(sets: readonly ResourceSet[]): Map<string, string> {
  return new Map(sets.flatMap((set) => [...set].map(({ name, version }) => [name, version] as const)));
}

function named(changes: Iterable<ResourceChange>): string[] {
  return [...changes].map(changeId).sort();
}

Deno.test("for any distribution of resources over sets, the changes of a proxy are the changes of the resources that count", () => {
  const versions = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 4, maxLength: 4 });
  const sets = fc.tuple(versions, versions, versions);
  fc.assert(fc.property(fc.array(fc.tuple(sets, sets), { minLength: 1, maxLength: 6 }), (proxies) => {
    const diffs = new StateDiffs();
    for (const [from, to] of proxies) {
      const [before, after] = [from.map(setOf), to.map(setOf)];
      const snapshotOf = (sets: readonly ResourceSet[]): StateSnapshot => new Map([[CLUSTER, sets]]);
      const found = diffs.between(snapshotOf(before), snapshotOf(after)).flatMap(({ changes }) => changes);
      const [old, now] = [winners(before), winners(after)];
      const expected = [...new Set([...old.keys(), ...now.keys()])].filter((name) => old.get(name) !== now.get(name));
      assert.deepEqual(
        named(found),
        expected.map((name) => [CLUSTER, name, old.get(name) ?? "", now.get(name) ?? ""].join(" ")).sort(),
      );
    }
  }));
});

Deno.test("proxies with sets of their own share the block of what they share, and equal blocks are one", () => {
  const diffs = new StateDiffs();
  const [old, now] = [setOf([1, 1, 1, 0]), setOf([1, 2, 1, 0])];
  const blocks = Array.from({ length: 5 }, () => {
    const own = setOf([0, 0, 0, 1]);
    return diffs.between(new Map([[CLUSTER, [old, own]]]), new Map([[CLUSTER, [now, own]]]));
  });
  assert.deepEqual(blocks.map(({ length }) => length), [1, 1, 1, 1, 1]);
  assert.equal(new Set(blocks.flat()).size, 1);
  // Another pair of sets with the same change.
  const [again] = diffs.between(
    new Map([[CLUSTER, [setOf([1, 1, 0, 0])]]]),
    new Map([[CLUSTER, [setOf([1, 2, 0, 0])]]]),
  );
  assert.equal(again, blocks[0]![0]);
});
