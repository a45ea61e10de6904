import assert from "node:assert/strict";
import fc from "fast-check";
import { DiffTable } from "../../../lib/resource/diff.ts";
import { encodeResource } from "../../../lib/resource/encoded.ts";
import { ResourceTable } from "../../../lib/resource/set.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import { Block, concatBytes } from "../../../lib/resource/block.ts";
import { assemble } from "../../../lib/xds/ads/response.ts";
import { stackDigest, StackDigests, stackSets } from "../../../lib/xds/ads/set_stack.ts";
import { stepTowards } from "../../../lib/xds/ads/step.ts";

const TYPE = "type.googleapis.com/test.Type";
const content = fc.uniqueArray(fc.tuple(fc.nat(30), fc.nat(3)), { selector: ([name]) => name, maxLength: 20 });
type Content = readonly (readonly [number, number])[];

function setOf(table: ResourceTable, list: Content, prefix = "r") {
  return table.from(list.map(([name, value]) => encodeResource(TYPE, `${prefix}${name}`, new Uint8Array([value]))));
}

Deno.test("the step between two lone sets is the step of the same sets beside others, for any size of a response", () => {
  fc.assert(fc.property(content, content, fc.constantFrom(1, 40, 200, Infinity), (before, after, maxBytes) => {
    const resources = new ResourceTable();
    const [sent, want] = [before, after].map((list) => stackSets([setOf(resources, list)], "group"));
    const beside = stackSets([setOf(resources, [[1, 1]], "other")], "beside");
    const options = { form: "delta", maxBytes, table: new DiffTable() } as const;
    const lone = stepTowards(sent!, want!, options);
    const { blocks, changed, count, removed, diffs, next } = stepTowards(
      [...beside, ...sent!],
      [...beside, ...want!],
      options,
    );
    const bytes = (all: readonly Block[]) => concatBytes(all.map((block) => block.plain));
    assert.deepEqual(bytes(lone.blocks), bytes(blocks));
    assert.deepEqual([lone.changed.flat(), lone.count, lone.removed], [changed.flat(), count, removed]);
    assert.deepEqual(lone.diffs.flatMap((diff) => diff.changed), diffs.flatMap((diff) => diff.changed));
    assert.deepEqual(lone.next.map(({ set }) => set), next.slice(beside.length).map(({ set }) => set));
    if (sent![0]!.set !== want![0]!.set && maxBytes === Infinity) assert.equal(lone.next, want);
  }));
});

Deno.test("streams with the same step share one list of blocks, which is made once", () => {
  const resources = new ResourceTable();
  const table = new DiffTable();
  const [from, to] = [setOf(resources, [[1, 1]]), setOf(resources, [[1, 2]])];
  const steps = [1, 2].map(() =>
    stepTowards(stackSets([from]), stackSets([to]), { form: "delta", maxBytes: Infinity, table })
  );
  assert.equal(steps[0]!.blocks, steps[1]!.blocks);
});

Deno.test("the remembered hash of a stack is its hash, whichever stacks were asked before", () => {
  fc.assert(fc.property(fc.array(fc.array(fc.nat(3), { maxLength: 3 }), { maxLength: 12 }), (stacks) => {
    const resources = new ResourceTable();
    const sets = [0, 1, 2, 3].map((i) => setOf(resources, [[i, 0]]));
    const digests = new StackDigests();
    for (const picked of stacks) {
      const stack = picked.map((i, at) => ({ group: "", key: String(at), set: sets[i]! }));
      assert.equal(digests.of(stack), stackDigest(stack));
    }
  }));
});

Deno.test("a response's head is the message that a decoder reads, with any text", () => {
  const text = fc.oneof(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme-ascii", maxLength: 200 }));
  fc.assert(fc.property(text, text, text, fc.array(text, { maxLength: 4 }), text, fc.boolean(), (...parts) => {
    const [version, typeUrl, nonce, removed, controlPlane, delta] = parts;
    const { parts: runs, bytes } = assemble({ delta, version, typeUrl, nonce, removed, controlPlane }, [], true);
    const plain = concatBytes(runs);
    assert.equal(bytes, plain.length);
    const name = delta ? "DeltaDiscoveryResponse" : "DiscoveryResponse";
    const message = decode<Record<string, unknown>>(`envoy.service.discovery.v3.${name}`, plain);
    assert.equal(message["type_url"] ?? "", typeUrl);
    assert.equal(message["nonce"] ?? "", nonce);
    assert.equal(message[delta ? "system_version_info" : "version_info"] ?? "", version);
    assert.deepEqual(message["removed_resources"] ?? [], delta ? removed : []);
    assert.deepEqual((message["control_plane"] as { identifier?: string } | undefined)?.identifier ?? "", controlPlane);
  }));
});
