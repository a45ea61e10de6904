/** Requests of the node agent, as its own code writes them. */
import assert from "node:assert/strict";
import { addMessage, delMessage, keepMessage, snapshotSentMessage } from "../../lib/cni/zds/messages.ts";
import { readRequest } from "./node/agent_socket.ts";

Deno.test("the tunnel reads each request that the agent writes", () => {
  const pod = { name: "cart", namespace: "shop", serviceAccount: "cart-account" };
  const uid = "a".repeat(200);
  assert.deepEqual(readRequest(addMessage({ uid, ...pod })), { do: "add", uid, pod });
  assert.deepEqual(readRequest(keepMessage("u1")), { do: "keep", uid: "u1" });
  assert.deepEqual(readRequest(delMessage("u1")), { do: "del", uid: "u1" });
  assert.deepEqual(readRequest(snapshotSentMessage()), { do: "snapshot sent" });
});

Deno.test("a request without what it needs is refused", () => {
  assert.throws(() => readRequest(Uint8Array.of(0x0a, 0x03, 0x0a, 0x01, 0x75)), /request 1 without what it needs/);
  assert.throws(() => readRequest(new Uint8Array()), /an empty request/);
  assert.throws(() => readRequest(Uint8Array.of(0x32, 0x00)), /request 6/);
});
