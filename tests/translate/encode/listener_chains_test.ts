import assert from "node:assert/strict";
import { decode } from "../../../lib/pb/reflect.ts";
import { encodeListener, encodeListenerOfChains } from "../../../lib/translate/encode/encode.ts";
import type { envoy } from "../../../proto/gen/types.ts";

type Listener = envoy.config.listener.v3.Listener;

const NAME = "envoy.config.listener.v3.Listener";
const chain = (name: string) => ({ name, filters: [{ name: `filter of ${name}` }] });

Deno.test("a listener with separately encoded chains equals the listener encoded as a whole, with the chains in order", () => {
  const chains = ["a", "b", "c"].map(chain);
  const message: Listener = { name: "in", filter_chains: chains, listener_filters: [{ name: "tls" }] };
  for (const filter_chains of [chains, chains.toReversed(), []]) {
    const built = { message: { ...message, filter_chains }, causes: ["Sidecar/x/y"] };
    const [whole, joined] = [encodeListener(built), encodeListenerOfChains(built)];
    assert.deepEqual(decode(NAME, joined.value), decode(NAME, whole.value));
    assert.deepEqual([joined.name, joined.causes], [whole.name, whole.causes]);
    assert.equal(encodeListenerOfChains(built).version, joined.version);
  }
});

Deno.test("a listener with fields that builders do not write is encoded as a whole, by encoders that know all fields", () => {
  const message: Listener = { name: "in", filter_chains: [chain("a")], listener_filters: [{ name: "tls" }] };
  const built = { message, causes: [], needsApi: true } as const;
  assert.deepEqual(encodeListenerOfChains(built).value, encodeListener(built).value);
});
