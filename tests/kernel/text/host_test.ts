import assert from "node:assert/strict";
import { bracketed, hostAndPort } from "../../../lib/kernel/text/host.ts";

Deno.test("an IPv6 address stands in brackets before a port, and other hosts stay as they are", () => {
  assert.deepEqual(["::1", "10.0.0.1", "a.test"].map(bracketed), ["[::1]", "10.0.0.1", "a.test"]);
  assert.equal(hostAndPort("::1", 80), "[::1]:80");
  assert.equal(hostAndPort("a.test", "80"), "a.test:80");
});
