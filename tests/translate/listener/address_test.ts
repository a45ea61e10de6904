/** Addresses and ranges of listeners. */
import assert from "node:assert/strict";
import { ALL_ADDRESSES, canonicalRange, socketAddress } from "../../../lib/translate/listener/address.ts";

for (
  const [text, expected] of [
    ["10.1.2.3", "10.1.2.3/32"],
    ["10.1.2.3/8", "10.0.0.0/8"],
    ["0.0.0.0/0", ALL_ADDRESSES],
    ["0.0.0.0", ALL_ADDRESSES],
    ["0.0.0.0/1", "0.0.0.0/1"],
    ["2001:DB8:0::1/32", "2001:db8::/32"],
    ["::/0", "::/0"],
    ["10.1.2.3/33", undefined],
    ["10.1.2.3/x", undefined],
    ["example.com", undefined],
    ["", undefined],
  ] as const
) {
  Deno.test(`the range of "${text}"`, () => assert.equal(canonicalRange(text), expected));
}

Deno.test("a Unix socket is a pipe, also an abstract one", () => {
  assert.deepEqual(socketAddress("unix:///tmp/a.sock", 0), { pipe: { path: "/tmp/a.sock" } });
  assert.deepEqual(socketAddress("unix://@name", 0), { pipe: { path: "@name" } });
});
