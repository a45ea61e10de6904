import assert from "node:assert/strict";
import { hostRecords } from "../../lib/dns/table/addresses.ts";
import { buildLookupTable } from "../../lib/dns/table/lookup.ts";
import type { Locality, NameTable } from "../../lib/dns/table/types.ts";
import { hostNames } from "../../lib/dns/table/host.ts";
import { resolve } from "./support/resolve.ts";

const locality: Locality = { namespace: "ns1", domain: "ns1.svc.cluster.local", search: ["ns1.svc.cluster.local"] };
const ofOrchestrator = (shortname: string, namespace: string) => ({
  ips: ["10.0.0.1"],
  registry: "Kubernetes",
  shortname,
  namespace,
});

/** Host, its entry in the table, and all names of the host. */
const variants: [host: string, info: NameTable[string], names: string[]][] = [
  ["a.ns1.svc.cluster.local", ofOrchestrator("a", "ns1"), ["a.ns1.svc.cluster.local", "a.ns1", "a", "a.ns1.svc"]],
  ["A.NS1.svc.cluster.local.", { ...ofOrchestrator("A", "ns1"), registry: "orch" }, [
    "a.ns1.svc.cluster.local",
    "a.ns1",
    "a",
    "a.ns1.svc",
  ]],
  ["a.ns2.svc.cluster.local", ofOrchestrator("a", "ns2"), ["a.ns2.svc.cluster.local", "a.ns2", "a.ns2.svc"]],
  ["a.ns1.svc.other.local", ofOrchestrator("a", "ns1"), ["a.ns1.svc.other.local"]],
  ["asvc.cluster.local", ofOrchestrator("a", "ns1"), ["asvc.cluster.local"]],
  ["a.ns1.svc.cluster.local", { ips: [], registry: "External" }, ["a.ns1.svc.cluster.local"]],
  ["a.ns1.svc.cluster.local", { ips: [], registry: "Kubernetes" }, ["a.ns1.svc.cluster.local"]],
  ["a.ns1.svc.cluster.local", { ...ofOrchestrator("a", "ns2"), altHosts: ["a.alt", "A.ns2"] }, [
    "a.ns1.svc.cluster.local",
    "a.ns2",
    "a.ns2.svc",
    "a.alt",
  ]],
];

for (const [host, info, names] of variants) {
  Deno.test(`names of ${host} (${info.registry}, ${info.shortname}.${info.namespace})`, () => {
    assert.deepEqual(hostNames(host, info, locality), names);
  });
}

Deno.test("a workload domain without namespace, and no domain at all", () => {
  const info = ofOrchestrator("a", "ns1");
  const names = (domain: string) => hostNames("a.ns1.svc.cluster.local", info, { ...locality, domain });
  assert.deepEqual(names("svc.cluster.local"), ["a.ns1.svc.cluster.local", "a.ns1", "a", "a.ns1.svc"]);
  assert.deepEqual(names(""), ["a.ns1.svc.cluster.local"]);
});

Deno.test("a host's own name wins over another host's alias, in any order; of equal claims the first by name", () => {
  const first: NameTable = {
    "a.ns1": { ips: ["10.0.0.9"], registry: "External" },
    "a.ns1.svc.cluster.local": ofOrchestrator("a", "ns1"),
    "b.ns1.svc.cluster.local": { ...ofOrchestrator("b", "ns1"), ips: ["10.0.0.2"], altHosts: ["shared"] },
    "c.ns1.svc.cluster.local": { ...ofOrchestrator("c", "ns1"), ips: ["10.0.0.3"], altHosts: ["shared"] },
  };
  const second = Object.fromEntries(Object.entries(first).reverse());
  for (const names of [first, second]) {
    const table = buildLookupTable(names, locality);
    assert.deepEqual(resolve(table, "a.ns1"), ["a.ns1 A 10.0.0.9"]);
    assert.deepEqual(resolve(table, "a.ns1.ns1.svc.cluster.local").at(-1), "a.ns1 A 10.0.0.9");
    assert.deepEqual(resolve(table, "a"), ["a A 10.0.0.1"]);
    assert.deepEqual(resolve(table, "shared"), ["shared A 10.0.0.2"]);
  }
});

Deno.test("an alias never hides a known name", () => {
  const table = buildLookupTable({
    "a": { ips: ["10.0.0.9"], registry: "External" },
    "a.ns1.svc.cluster.local": { ips: ["10.0.0.1"], registry: "External" },
  }, locality);
  assert.deepEqual(resolve(table, "a.ns1.svc.cluster.local"), ["a.ns1.svc.cluster.local A 10.0.0.1"]);
});

Deno.test("texts that are no address or no name are left out and named, and harm no other host", () => {
  const table = buildLookupTable({
    "a.example": { ips: ["10.0.0.0/8", "nonsense", "10.0.0.1", "fe80::1%eth0", "256.0.0.1", "1.2.3"] },
    "b..example": { ips: ["10.0.0.2"] },
    [`${"x".repeat(64)}.example`]: { ips: ["10.0.0.2"] },
    "*": { ips: ["10.0.0.3"] },
    "": { ips: ["10.0.0.3"] },
    "empty.example": { ips: [] },
  }, locality);
  assert.deepEqual(table.findings.map(({ host, message }) => `${host.slice(0, 10)}: ${message.slice(0, 40)}`), [
    'a.example: ips: got "10.0.0.0/8", expected an addre',
    'a.example: ips: got "nonsense", expected an address',
    'a.example: ips: got "fe80::1%eth0", expected an add',
    'a.example: ips: got "256.0.0.1", expected an addres',
    'a.example: ips: got "1.2.3", expected an address',
    ': got the name "", expected a DNS name',
    'b..example: got the name "b..example", expected a DN',
    `xxxxxxxxxx: got the name "${"x".repeat(26)}`,
  ]);
  assert.deepEqual(resolve(table, "a.example"), ["a.example A 10.0.0.1"]);
  assert.deepEqual(resolve(table, "anything.example"), ["forwarded"]);
});

Deno.test("IPv4 addresses in IPv6 spelling are IPv4; equal addresses count once", () => {
  const { records } = hostRecords(["::ffff:10.0.0.1", "10.0.0.1", "10.0.0.2", "10.0.0.2", "2001:db8::1"]);
  assert.equal(records.v4?.count, 3, "spellings are compared as texts");
  assert.equal(records.v6?.count, 1);
});

Deno.test("every order of addresses is as likely as any other", () => {
  const ips = ["10.0.0.1", "10.0.0.2", "10.0.0.3"];
  const table = buildLookupTable({ "a.example": { ips } }, locality);
  const seen = new Map<string, number>();
  for (let i = 0; i < 6000; i++) {
    const order = resolve(table, "a.example").map((answer) => answer.at(-1)).join("");
    seen.set(order, (seen.get(order) ?? 0) + 1);
  }
  assert.deepEqual([...seen.keys()].sort(), ["123", "132", "213", "231", "312", "321"]);
  for (const count of seen.values()) assert.ok(count > 800 && count < 1200, `${count} of 6000 for one of 6 orders`);
});
