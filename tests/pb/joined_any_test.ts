import assert from "node:assert/strict";
import fc from "fast-check";
import { encode } from "../../lib/pb/codec.ts";
import { joinedAny, joinedParts, withParts } from "../../lib/pb/joined_any.ts";
import { decode } from "../../lib/pb/reflect.ts";
import { chainRuns } from "../../lib/translate/encode/chain_runs.ts";
import { bytesOf } from "../../lib/resource/block.ts";

const MANAGER = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const LISTENER = "envoy.config.listener.v3.Listener";

/** A connection manager in two parts, and the same connection manager as a whole. */
function manager(name: string, filters: readonly string[]) {
  const fields = { http_filters: filters.map((name) => ({ name })) };
  const own = { stat_prefix: name, route_config: { name } };
  const parts = { shared: encode(MANAGER, fields), own: encode(MANAGER, own) };
  return { parts, whole: { ...fields, ...own } };
}

const text = fc.string({ minLength: 1, maxLength: 300 });
const managers = fc.record({ name: text, filters: fc.array(text, { maxLength: 5 }) });

Deno.test("a message in two runs reads like the same message in one run", () => {
  fc.assert(fc.property(managers, ({ name, filters }) => {
    const { parts, whole } = manager(name, filters);
    const packed = joinedAny(MANAGER, parts);
    assert.deepEqual(decode(MANAGER, packed.value), decode(MANAGER, encode(MANAGER, whole)));
    assert.equal(joinedParts(packed), parts);
    const other = withParts(packed, { ...parts, own: encode(MANAGER, { stat_prefix: "other" }) });
    assert.equal(decode<{ stat_prefix: string }>(MANAGER, other.value).stat_prefix, "other");
    assert.equal(other.type_url, packed.type_url);
  }));
});

Deno.test("a chain whose connection manager has two runs is encoded as one whose manager has one", () => {
  fc.assert(fc.property(managers, fc.array(text, { maxLength: 2 }), ({ name, filters }, before) => {
    const { parts, whole } = manager(name, filters);
    const chain = (packed: { type_url: string; value: Uint8Array }) => ({
      name,
      filter_chain_match: { destination_port: { value: 80 } },
      filters: [...before.map((name) => ({ name })), { name: "manager", typed_config: packed }],
    });
    const packed = joinedAny(MANAGER, parts);
    const runs = bytesOf(chainRuns(chain(packed)));
    const plain = encode(LISTENER, {
      filter_chains: [chain({ type_url: packed.type_url, value: encode(MANAGER, whole) })],
    });
    type Decoded = { filter_chains: { filters: { typed_config?: { value: unknown } }[] }[] };
    const opened = (bytes: Uint8Array) => {
      const listener = decode<Decoded>(LISTENER, bytes);
      const config = listener.filter_chains[0]!.filters.at(-1)!.typed_config!;
      config.value = decode(MANAGER, config.value as Uint8Array);
      return listener;
    };
    assert.deepEqual(opened(runs), opened(plain));
  }));
});
