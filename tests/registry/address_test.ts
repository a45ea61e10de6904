import assert from "node:assert/strict";
import { canonicalIp, isIp, virtualAddress } from "../../lib/registry/address.ts";

Deno.test("IP addresses are distinguished from names, CIDRs and sockets", () => {
  for (const ip of ["10.0.0.1", "255.255.255.255", "::1", "2001:DB8::1", "::ffff:10.0.0.1"]) assert.ok(isIp(ip), ip);
  for (
    const no of [
      "10.0.0",
      "10.0.0.1.",
      "10.0.0.256",
      "1.2.3.04",
      "a.b",
      "10.0.0.0/8",
      "unix:///x",
      "",
      "a:b",
      "fe80::1%eth0",
    ]
  ) {
    assert.ok(!isIp(no), no);
  }
});

Deno.test("one IPv6 address has one spelling", () => {
  assert.equal(canonicalIp("2001:DB8:0:0:0:0:0:1"), "2001:db8::1");
  assert.equal(canonicalIp("10.0.0.1"), "10.0.0.1");
  assert.equal(canonicalIp("unix:///a:b"), "unix:///a:b");
});

Deno.test("a virtual address is an IP or a range; a range of one address is an IP; any other text is not an address", () => {
  assert.equal(virtualAddress("10.0.0.1/32"), "10.0.0.1");
  assert.equal(virtualAddress("10.0.0.0/8"), "10.0.0.0/8");
  assert.equal(virtualAddress("2001:DB8::/64"), "2001:db8::/64");
  assert.equal(virtualAddress("2001:DB8::1/128"), "2001:db8::1");
  for (
    const no of [
      "10.0.0.0/33",
      "10.0.0.0/",
      "10.0.0.0/x",
      "a.example.com",
      "a/8",
      "::1/129",
      "fe80::1%eth0",
      "fe80::%1/64",
    ]
  ) {
    assert.equal(virtualAddress(no), undefined, no);
  }
});
