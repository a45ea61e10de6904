import assert from "node:assert/strict";
import { Code } from "../../lib/grpc/codes.ts";
import { FrameType } from "../../lib/grpc/h2/constants.ts";
import { frame } from "../../lib/grpc/h2/frames.ts";
import { XdsRefusal } from "../../lib/xds/protocol/source.ts";
import { CLUSTER, LISTENER } from "../../lib/xds/protocol/types.ts";
import { ConnectServer } from "./support/connect_server.ts";

const reset = (stream: number) => frame(FrameType.RST_STREAM, 0, stream, new Uint8Array([0, 0, 0, 8]));

Deno.test("requests that come while the view is awaited are kept, and served in their order", async () => {
  await using at = new ConnectServer();
  at.ask(1, LISTENER);
  at.ask(1, CLUSTER);
  await at.client.read();
  assert.deepEqual([at.received(1), at.streams, at.source.connects.size], [[], 0, 1]);
  at.connectOf(1).resolve();
  await at.client.read();
  assert.deepEqual([at.received(1), at.streams], [[LISTENER, CLUSTER], 1]);
});

Deno.test("a view that the source has at once is served in the same turn", async () => {
  await using at = new ConnectServer();
  at.source.atOnce.add("1");
  at.ask(1, CLUSTER);
  assert.equal(at.streams, 1);
  await at.client.read();
  assert.deepEqual(at.received(1), [CLUSTER]);
});

Deno.test("a client that has said all while the view is awaited is served, and then its stream ends", async () => {
  await using at = new ConnectServer();
  at.ask(1, CLUSTER, 1);
  await at.client.read();
  assert.deepEqual(at.end(1), [undefined, undefined]);
  at.connectOf(1).resolve();
  await at.client.read();
  assert.deepEqual([at.received(1), at.end(1)[0], at.streams], [[CLUSTER], "status 0", 0]);
  assert.deepEqual(at.source.memory.closed, ["1"]);
});

Deno.test("past the deadline the stream ends with UNAVAILABLE and the event that was awaited; a late view is closed", async () => {
  await using at = new ConnectServer({ connectTimeout: 20 });
  at.source.onConnect = ({ control }) => control.waitsFor("pod shop/cart-1 to be known");
  at.ask(1, CLUSTER);
  const { control } = at.connectOf(1);
  assert.ok(control.deadline > Date.now() - 1000 && !control.signal.aborted);
  await at.client.until(() => at.client.ends.has(1));
  assert.deepEqual(at.end(1), ["status 14", "waited 0.02 s for pod shop/cart-1 to be known"]);
  assert.ok(control.signal.aborted);
  at.connectOf(1).resolve();
  await at.client.read();
  assert.deepEqual([at.source.memory.closed, at.streams, at.client.late, at.errors], [["1"], 0, 0, []]);
});

for (const when of ["inside connect", "later"] as const) {
  Deno.test(`a view that comes for certain has no deadline, if the source says so ${when}`, async () => {
    await using at = new ConnectServer({ connectTimeout: 20 });
    if (when === "inside connect") {
      at.source.onConnect = ({ control, request }) => request.node.id === "1" && control.comes();
    }
    at.ask(1, CLUSTER);
    if (when === "later") at.connectOf(1).control.comes();
    at.ask(3, CLUSTER);
    await at.client.until(() => at.client.ends.has(3));
    assert.equal(at.end(3)[0], "status 14", "the deadline of a client that came later has passed");
    assert.deepEqual([at.end(1), at.connectOf(1).control.signal.aborted], [[undefined, undefined], false]);
    at.connectOf(1).resolve();
    await at.client.read();
    assert.deepEqual([at.received(1), at.streams], [[CLUSTER], 1]);
  });
}

Deno.test("a client that leaves while its view is awaited aborts the wait; a view that comes yet is closed once", async () => {
  await using at = new ConnectServer();
  at.ask(1, CLUSTER);
  at.ask(3, CLUSTER);
  const aborted: string[] = [];
  for (const stream of [1, 3]) {
    at.connectOf(stream).control.signal.addEventListener("abort", () => aborted.push(String(stream)));
  }
  at.client.send(reset(1), reset(3));
  assert.deepEqual(aborted, ["1", "3"]);
  at.connectOf(1).resolve();
  at.connectOf(3).refuse(at.connectOf(3).control.signal.reason);
  await at.client.read();
  assert.deepEqual([at.source.memory.closed, at.streams, at.errors], [["1"], 0, []]);
});

Deno.test("a refusal after a wait goes to the client; another exception is an internal error", async () => {
  await using at = new ConnectServer();
  at.ask(1, CLUSTER);
  at.ask(3, CLUSTER);
  at.connectOf(1).refuse(new XdsRefusal(Code.PERMISSION_DENIED, "no such account"));
  const defect = new TypeError("a defect");
  at.connectOf(3).refuse(defect);
  await at.client.read();
  assert.deepEqual(at.end(1), ["status 7", "no such account"]);
  assert.deepEqual(at.end(3), ["status 13", "internal error"]);
  assert.deepEqual([at.errors, at.streams], [[defect], 0]);
});

for (const when of ["inside connect", "while the view is awaited", "before a response", "after a response"] as const) {
  Deno.test(`a view revoked ${when} ends the stream with the status, is closed once, and nothing follows`, async () => {
    await using at = new ConnectServer();
    const revoke = () => at.connectOf(1).control.revoke(Code.PERMISSION_DENIED, "the account was deleted");
    if (when === "inside connect") {
      at.source.atOnce.add("1");
      at.source.onConnect = revoke;
    }
    at.ask(1, when === "before a response" ? "type.googleapis.com/unknown.Type" : CLUSTER);
    if (when === "while the view is awaited") revoke();
    if (when !== "inside connect") at.connectOf(1).resolve();
    await at.client.read();
    const received = at.received(1);
    assert.equal(received.length, when === "after a response" ? 1 : 0);
    revoke();
    at.ask(1, LISTENER);
    at.source.memory.push();
    await at.client.read();
    assert.deepEqual(at.end(1), ["status 7", "the account was deleted"]);
    assert.deepEqual([at.received(1), at.client.late, at.streams], [received, 0, 0]);
    assert.deepEqual([at.source.memory.closed, at.errors], [["1"], []]);
  });
}

Deno.test("a client that sends too much while its view is awaited is refused, and the wait ends", async () => {
  await using at = new ConnectServer();
  for (let i = 0; i <= 1000; i++) at.ask(1, CLUSTER);
  await at.client.read();
  assert.deepEqual(at.end(1), ["status 8", "too much sent before the call was served"]);
  assert.ok(at.connectOf(1).control.signal.aborted);
  assert.equal(at.server.grpc.held.bytes, 0);
});

Deno.test("the source gets the node, the remote end and the metadata of the call", async () => {
  await using at = new ConnectServer();
  at.ask(1, CLUSTER);
  const { node, peer, metadata } = at.connectOf(1).request;
  assert.deepEqual([node.id, peer, metadata["content-type"]], ["1", { address: "memory" }, "application/grpc"]);
});

Deno.test("a view that comes for a call whose end is not sent yet is closed, and opens no stream", async () => {
  await using at = new ConnectServer();
  at.ask(1, CLUSTER);
  await at.client.read();
  at.connectOf(1).resolve();
  for (let i = 0; i <= 1000; i++) at.ask(1, CLUSTER);
  assert.equal([...at.server.grpc.connections][0]!.h2.streams.has(1), true, "the end is not sent yet");
  await at.client.read();
  assert.deepEqual([at.end(1)[0], at.source.memory.closed, at.logged], ["status 8", ["1"], []]);
});
