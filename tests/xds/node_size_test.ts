/** Nodes too large to read: recognised before decoding. */
import fc from "fast-check";
import assert from "node:assert/strict";
import { encode } from "../../lib/pb/codec.ts";
import { decode } from "../../lib/pb/reflect.ts";
import { fromStruct, struct } from "../../lib/pb/wellknown.ts";
import { nodeSizeProblem, readNode } from "../../lib/xds/protocol/node.ts";

const node = (metadata: object) => encode("envoy.config.core.v3.Node", { id: "a", metadata: struct({ ...metadata }) });
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${i}`, "x"]));
/** Nested lists of a struct: a message of four levels for each. */
const nested = (levels: number) => {
  let value: unknown = keys(5001);
  for (let i = 0; i < levels; i++) value = { a: [value] };
  return { a: value };
};

const TOO_LARGE: Readonly<Record<string, Uint8Array>> = {
  "one long text": node({ a: "x".repeat(1024 * 1024) }),
  "many fields of metadata": node(keys(5001)),
  "many labels": node({ LABELS: keys(5001) }),
  "a long list": node({ a: Array.from({ length: 5001 }, () => 1) }),
  "a long list below others": node(nested(8)),
};

for (const [what, bytes] of Object.entries(TOO_LARGE)) {
  Deno.test(`a node with ${what} is refused before it is decoded`, () => {
    assert.throws(() => readNode(bytes), /^Error: node: it has (more than 5000|10\d+ bytes)|^RpcError: node: it has/);
  });
}

Deno.test("a node with as many labels and annotations as a pod may have is read", () => {
  const bytes = node({ LABELS: keys(2000), ANNOTATIONS: keys(2000), PROXY_CONFIG: { proxyMetadata: keys(500) } });
  assert.equal(readNode(bytes).id, "a");
});

Deno.test("the count equals the size of the decoded metadata, whatever its form", () => {
  const leaf = fc.oneof(fc.string({ maxLength: 3 }), fc.integer(), fc.boolean(), fc.constant(null));
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof({ depthSize: "small" }, leaf, fc.array(tie("tree")), fc.dictionary(fc.string(), tie("tree"))),
  }));
  const count = (value: unknown): number => {
    if (typeof value !== "object" || value === null) return 0;
    return Object.values(value).reduce((sum: number, one) => sum + 1 + count(one), 0);
  };
  fc.assert(fc.property(fc.dictionary(fc.string(), tree), fc.integer({ min: 4900, max: 5000 }), (metadata, filler) => {
    const bytes = node({ ...metadata, "filler of the test": Array.from({ length: filler }, () => 1) });
    const read = decode<{ metadata: object }>("envoy.config.core.v3.Node", bytes).metadata;
    // Beside the values: the fields id and metadata.
    assert.equal(nodeSizeProblem(bytes) === undefined, count(fromStruct(read)) + 2 <= 5000);
  }));
});

Deno.test("malformed messages are not judged here", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => assert.equal(nodeSizeProblem(bytes), undefined)));
});
