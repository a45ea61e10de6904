import assert from "node:assert/strict";
import { parseAddress, showAddress } from "../../lib/cli/address.ts";

const good: [string, string, number][] = [
  [":15010", "", 15010],
  ["127.0.0.1:0", "127.0.0.1", 0],
  ["[::1]:8080", "::1", 8080],
  ["localhost:65535", "localhost", 65535],
  ["*:80", "", 80],
];
for (const [text, host, port] of good) {
  Deno.test(`${text} is an address`, () => assert.deepEqual(parseAddress(text), { host, port }));
}
for (const text of ["", "8080", "::1:80", ":65536", ":http", "a b:1", "host:", "http://x:1", "[::1]", ":-1"]) {
  Deno.test(`${JSON.stringify(text)} is none`, () => assert.equal(parseAddress(text), undefined));
}
Deno.test("an IPv6 host is shown in brackets", () => assert.equal(showAddress({ host: "::1", port: 1 }), "[::1]:1"));
