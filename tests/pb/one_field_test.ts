import assert from "node:assert/strict";
import { encode } from "../../lib/pb/codec.ts";
import { decodeApi, encodeApi } from "../../lib/pb/envoy_api.ts";
import { takeField } from "../../lib/pb/one_field.ts";
import { concatBytes } from "../../lib/resource/block.ts";

const FILTER = "envoy.config.listener.v3.Filter";
const LISTENER = "envoy.config.listener.v3.Listener";
const chain = (name: string) => ({ name, filters: [{ name: `filter of ${name}` }] });
const before = { name: "web", stat_prefix: "web" };
const listener = { ...before, filter_chains: [chain("a"), chain("b")], transparent: { value: true } };
const CHAINS = 3;

Deno.test("a field is taken out as a separate message, and replaced by another message", () => {
  const bytes = encode(LISTENER, listener);
  const taken = takeField(bytes, CHAINS);
  assert.deepEqual(decodeApi(LISTENER, taken.field), { filter_chains: listener.filter_chains });
  assert.equal(taken.field.buffer, bytes.buffer, "nothing is copied");
  const other = takeField(encode(LISTENER, { filter_chains: [chain("c")] }), CHAINS).field;
  assert.deepEqual(taken.with(other), encode(LISTENER, { ...listener, filter_chains: [chain("c")] }));
  assert.deepEqual(taken.with(taken.field), bytes);
});

Deno.test("the occurrences of a repeated field are joined, and a missing field is empty", () => {
  const parts = [{ filter_chains: [chain("a")] }, before, { filter_chains: [chain("b")] }];
  const scattered = takeField(concatBytes(parts.map((part) => encodeApi(LISTENER, part))), CHAINS);
  assert.deepEqual(decodeApi(LISTENER, scattered.field), { filter_chains: listener.filter_chains });
  const { filter_chains: chains, ...others } = decodeApi(LISTENER, scattered.with(scattered.field));
  assert.deepEqual([chains, others], [listener.filter_chains, before]);

  const absent = takeField(encode(LISTENER, before), CHAINS);
  assert.equal(absent.field.length, 0);
  const added = encode(LISTENER, { filter_chains: listener.filter_chains });
  assert.deepEqual(decodeApi(LISTENER, absent.with(added)), { ...before, filter_chains: listener.filter_chains });
  assert.equal(takeField(new Uint8Array(0), CHAINS).field.length, 0);
});

Deno.test("bytes that end in the middle of a field are not a message", () => {
  const bytes = encode(FILTER, { name: "a name of some length" });
  assert.throws(() => takeField(bytes.subarray(0, 5), CHAINS), /out of range/);
});
