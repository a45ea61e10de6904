import assert from "node:assert/strict";
import {
  initialRelay,
  MAX_KEPT,
  type RelayEvent,
  type RelayState,
  stepRelay,
} from "../../../lib/agent/relay/machine.ts";
import { firstRequest, healthRequest, NO_VERSIONS, readResponse } from "../../../lib/agent/relay/messages.ts";
import { MessageWriter } from "../../../lib/grpc/message_writer.ts";
import { utf8Bytes } from "../../../lib/resource/protowire.ts";

const LISTENERS = "type.googleapis.com/envoy.config.listener.v3.Listener";
const NAMES = "type.googleapis.com/istio.networking.nds.v1.NameTable";

const listeners = new MessageWriter().string(2, LISTENERS).finish();

/** A delta response whose only resource has a name and a version. */
function response(type: string, name: string, version: string): Uint8Array {
  const any = new MessageWriter().string(1, type).bytes(2, utf8Bytes("body")).finish();
  const resource = new MessageWriter().string(1, version).bytes(2, any).string(3, name).finish();
  return new MessageWriter().bytes(2, resource).string(4, type).string(5, "nonce-1").finish();
}

/** The effects of the last event, and the state afterwards. */
function after(state: RelayState, ...events: RelayEvent[]) {
  let step = { state, effects: [] as ReturnType<typeof stepRelay>["effects"] };
  for (const event of events) step = stepRelay(step.state, event) as typeof step;
  return step;
}

const opened: RelayEvent[] = [
  { type: "downstream opened", stream: 1, variant: "delta" },
  { type: "upstream opened", connection: 1 },
];

Deno.test("the agent asks for its own resources once the proxy asks for listeners, and sends the last health", () => {
  const report = { healthy: false, reason: "refused" } as const;
  const { effects } = after(initialRelay([NAMES]), ...opened, { type: "health", report }, {
    type: "downstream message",
    stream: 1,
    bytes: listeners,
  });
  assert.deepEqual(effects.map((effect) => effect.type === "send up" ? effect.bytes : effect), [
    listeners,
    firstRequest("delta", NAMES, NO_VERSIONS),
    healthRequest("delta", report),
  ]);
});

Deno.test("a change of health is sent at once, and the last health again on the next stream, in the stream's variant", () => {
  const ill = { healthy: false, reason: "refused" } as const;
  const message = { type: "downstream message", stream: 1, bytes: listeners } as const;
  const asked = after(initialRelay([]), ...opened, message);
  const said = after(asked.state, { type: "health", report: ill });
  assert.deepEqual(said.effects.map((effect) => effect.type === "send up" && effect.bytes), [
    healthRequest("delta", ill),
  ]);
  const well = after(said.state, { type: "health", report: { healthy: true } });
  const next = after(
    well.state,
    { type: "downstream opened", stream: 2, variant: "sotw" },
    { type: "upstream opened", connection: 2 },
    { type: "downstream message", stream: 2, bytes: new MessageWriter().string(4, LISTENERS).finish() },
  );
  const type = "type.googleapis.com/istio.v1.HealthInformation";
  assert.deepEqual(
    next.effects.map((effect) => effect.type === "send up" && effect.bytes).at(-1),
    new MessageWriter().string(4, type).finish(),
  );
});

Deno.test("a response for the agent is acknowledged, and the next stream names the known version", () => {
  const bytes = response(NAMES, "table", "v7");
  const message = { type: "downstream message", stream: 1, bytes: listeners } as const;
  const arrived = after(initialRelay([NAMES]), ...opened, message, { type: "upstream message", connection: 1, bytes });
  assert.deepEqual(arrived.effects.map(({ type }) => type), ["work off"]);
  const read = readResponse("delta", bytes);
  assert.equal(read.resources[0]!.version, "v7");
  assert.equal(new TextDecoder().decode(read.resources[0]!.body), "body");
  const done = after(arrived.state, { type: "worked off", connection: 1, response: read });
  const ack = new MessageWriter().string(2, NAMES).string(6, "nonce-1").finish();
  assert.deepEqual(done.effects, [{ type: "send up", connection: 1, bytes: ack }]);

  const { state, effects } = after(done.state, { type: "upstream closed", connection: 1, reason: "gone" });
  assert.deepEqual(effects.map(({ type }) => type), ["close downstream"]);
  const again = after(
    state,
    { type: "downstream opened", stream: 2, variant: "delta" },
    { type: "upstream opened", connection: 2 },
    { type: "downstream message", stream: 2, bytes: listeners },
  );
  const versions = { version: "", byName: { table: "v7" } };
  assert.deepEqual(again.effects.at(-1), {
    type: "send up",
    connection: 2,
    bytes: firstRequest("delta", NAMES, versions),
  });
});

Deno.test("a response that the agent cannot process is rejected with the reason, and its version is not reported", () => {
  const bytes = response(NAMES, "table", "v7");
  const message = { type: "downstream message", stream: 1, bytes: listeners } as const;
  const step = after(
    initialRelay([NAMES]),
    ...opened,
    message,
    { type: "upstream message", connection: 1, bytes },
    { type: "worked off", connection: 1, response: readResponse("delta", bytes), error: "no table" },
  );
  const detail = new MessageWriter().varint(1, 13).string(2, "no table").finish();
  const rejection = new MessageWriter().string(2, NAMES).string(6, "nonce-1").bytes(7, detail).finish();
  assert.deepEqual(step.effects, [{ type: "send up", connection: 1, bytes: rejection }]);
  assert.deepEqual(step.state.own.get(NAMES), NO_VERSIONS);
});

Deno.test("a server that ends each connection without a response is dialled ever later, with the same requests", () => {
  let { state } = after(initialRelay([]), ...opened, { type: "downstream message", stream: 1, bytes: listeners });
  for (let failures = 1; failures <= 3; failures++) {
    const closed = after(state, { type: "upstream closed", connection: failures, reason: "unavailable" });
    assert.deepEqual(closed.effects, [{ type: "dial later", connection: failures + 1, failures }]);
    const again = after(
      closed.state,
      { type: "time to dial", connection: failures + 1 },
      { type: "upstream opened", connection: failures + 1 },
    );
    assert.deepEqual(again.effects, [{ type: "send up", connection: failures + 1, bytes: listeners }]);
    state = again.state;
  }
});

Deno.test("a proxy that asks for too much before the server answers is refused", () => {
  const { effects } = after(initialRelay([]), ...opened, {
    type: "downstream message",
    stream: 1,
    bytes: new Uint8Array(MAX_KEPT + 1),
  });
  assert.deepEqual(effects.map(({ type }) => type), ["close downstream", "close upstream"]);
});

const EXTENSIONS = "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig";

Deno.test("a response of a rewritten type waits for its new form, and the new form goes only to the proxy of its connection", () => {
  const message = { type: "downstream message", stream: 1, bytes: listeners } as const;
  const before = after(initialRelay([], [EXTENSIONS]), ...opened, message).state;
  const bytes = response(EXTENSIONS, "filter", "1");
  const given = after(before, { type: "upstream message", connection: 1, bytes });
  assert.deepEqual(given.effects, [{ type: "rewrite", connection: 1, variant: "delta", typeUrl: EXTENSIONS, bytes }]);
  const made = new Uint8Array([1]);
  const rewritten = { type: "rewritten", connection: 1, bytes: made } as const;
  assert.deepEqual(after(given.state, rewritten).effects, [{ type: "send down", stream: 1, bytes: made }]);
  const refused = { type: "refused", connection: 1, typeUrl: EXTENSIONS, nonce: "n", reason: "r" } as const;
  const over = after(given.state, { type: "downstream opened", stream: 2, variant: "delta" }).state;
  for (const late of [rewritten, refused]) assert.deepEqual(after(over, late).effects, []);
});

Deno.test("a refusal of the agent follows the proxy's acknowledgement and repeats the proxy's subscription; a rejection by the proxy replaces it", () => {
  const refused = { type: "refused", connection: 1, typeUrl: EXTENSIONS, nonce: "new", reason: "no module" } as const;
  const status = new MessageWriter().varint(1, 13).string(2, "no module").finish();
  const said = {
    sotw: new MessageWriter().string(1, "7").string(3, "a").string(3, "b").string(4, EXTENSIONS).string(5, "new")
      .bytes(6, status).finish(),
    delta: new MessageWriter().string(2, EXTENSIONS).string(6, "new").bytes(7, status).finish(),
  };
  for (const variant of ["sotw", "delta"] as const) {
    const answer = (nonce: string, error?: Uint8Array) =>
      variant === "sotw"
        ? new MessageWriter().string(1, "7").bytes(2, utf8Bytes("node")).string(3, "a").string(3, "b")
          .string(4, EXTENSIONS).string(5, nonce).bytes(6, error).finish()
        : new MessageWriter().string(2, EXTENSIONS).string(6, nonce).bytes(7, error).finish();
    const { state, effects } = after(
      initialRelay([], [EXTENSIONS]),
      { type: "downstream opened", stream: 1, variant },
      { type: "upstream opened", connection: 1 },
      { type: "upstream message", connection: 1, bytes: new MessageWriter().string(4, EXTENSIONS).finish() },
      refused,
    );
    assert.deepEqual(effects, []);
    const sent = (from: RelayState, bytes: Uint8Array) =>
      after(from, { type: "downstream message", stream: 1, bytes }).effects.map((one) => "bytes" in one && one.bytes);
    assert.deepEqual(sent(state, answer("old")), [answer("old")]);
    assert.deepEqual(sent(state, answer("new")), [answer("new"), said[variant]]);
    assert.deepEqual(sent(state, answer("new", status)), [answer("new", status)]);
    const { state: done } = after(state, { type: "downstream message", stream: 1, bytes: answer("new") });
    assert.deepEqual(sent(done, answer("new")), [answer("new")], "it is said once");
  }
});
