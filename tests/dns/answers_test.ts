import assert from "node:assert/strict";
import { askBoth } from "./support/ask.ts";
import { startServer } from "./support/server.ts";

/** Questions, and the table's answers: records in any order, or nothing but "the name exists". */
const rows: [name: string, type: string, answers: string[]][] = [
  ["www.google.com", "A", ["www.google.com A 1.1.1.1"]],
  ["WWW.Google.COM", "A", ["WWW.Google.COM A 1.1.1.1"]],
  ["mixed.example", "A", ["mixed.example A 3.3.3.4"]],
  ["www.google.com.ns1.svc.cluster.local", "A", [
    "www.google.com.ns1.svc.cluster.local CNAME www.google.com",
    "www.google.com A 1.1.1.1",
  ]],
  ["productpage.ns1.svc.cluster.local", "A", ["productpage.ns1.svc.cluster.local A 9.9.9.9"]],
  ["productpage.ns1.svc", "A", ["productpage.ns1.svc A 9.9.9.9"]],
  ["productpage.ns1", "A", ["productpage.ns1 A 9.9.9.9"]],
  ["productpage", "A", ["productpage A 9.9.9.9"]],
  ["productpage.ns1.ns1.svc.cluster.local", "A", [
    "productpage.ns1.ns1.svc.cluster.local CNAME productpage.ns1",
    "productpage.ns1 A 9.9.9.9",
  ]],
  ["productpage.ns1.ns1.svc.cluster.local", "AAAA", []],
  ["example.ns2", "A", ["example.ns2 A 10.10.10.10"]],
  ["example.ns2.svc", "A", ["example.ns2.svc A 10.10.10.10"]],
  ["svc-with-alt.ns1.svc.clusterset.local", "A", ["svc-with-alt.ns1.svc.clusterset.local A 15.15.15.15"]],
  ["details.ns2.svc.cluster.remote", "A", [
    "details.ns2.svc.cluster.remote A 11.11.11.11",
    "details.ns2.svc.cluster.remote A 12.12.12.12",
    "details.ns2.svc.cluster.remote A 13.13.13.13",
    "details.ns2.svc.cluster.remote A 14.14.14.14",
  ]],
  ["mysql", "A", ["mysql A 10.44.0.1", "mysql A 10.44.0.2", "mysql A 10.44.0.3"]],
  ["mysql-0.mysql", "A", ["mysql-0.mysql A 10.44.0.1"]],
  ["mysql-0.mysql.ns1", "A", ["mysql-0.mysql.ns1 A 10.44.0.1"]],
  ["allocated.external.example", "A", ["allocated.external.example A 240.240.0.7"]],
  ["allocated.external.example", "AAAA", ["allocated.external.example AAAA 2001:2::7"]],
  ["dual.localhost", "A", ["dual.localhost A 2.2.2.2"]],
  ["dual.localhost", "AAAA", ["dual.localhost AAAA 2001:db8::ff00:42:8329"]],
  ["dual.localhost.ns1.svc.cluster.local", "AAAA", [
    "dual.localhost.ns1.svc.cluster.local CNAME dual.localhost",
    "dual.localhost AAAA 2001:db8::ff00:42:8329",
  ]],
  ["ipv6.localhost", "A", []],
  ["ipv4.localhost", "AAAA", []],
  ["foo.wildcard", "A", ["foo.wildcard A 10.10.10.10", "foo.wildcard A 10.10.10.11"]],
  ["a.b.wildcard", "A", ["a.b.wildcard A 11.11.11.11"]],
  ["b.wildcard", "A", ["b.wildcard A 10.10.10.10", "b.wildcard A 10.10.10.11"]],
  ["a.c.wildcard", "A", ["a.c.wildcard A 10.10.10.10", "a.c.wildcard A 10.10.10.11"]],
  ["foo.wildcard.ns1.svc.cluster.local", "A", [
    "foo.wildcard.ns1.svc.cluster.local CNAME foo.wildcard",
    "foo.wildcard A 10.10.10.10",
    "foo.wildcard A 10.10.10.11",
  ]],
  ["a.b.wildcard.ns1.svc.cluster.local", "A", [
    "a.b.wildcard.ns1.svc.cluster.local CNAME a.b.wildcard",
    "a.b.wildcard A 11.11.11.11",
  ]],
  ["foo.wildcard", "AAAA", []],
  ["foo.foons.svc.mesh.company.net", "A", ["foo.foons.svc.mesh.company.net A 10.1.2.3"]],
  ["example.localhost", "A", ["example.localhost A 3.3.3.3"]],
  ["range.example", "A", ["range.example A 10.9.0.1"]],
];

Deno.test("names of the table get authoritative answers, over UDP and over TCP", async (t) => {
  using test = await startServer();
  for (const [name, type, expected] of rows) {
    await t.step(`${name} ${type}`, async () => {
      for (const reply of Object.values(await askBoth(test.at, { name, type }))) {
        assert.equal(reply.rcode, "NOERROR");
        assert.deepEqual(reply.flags, ["aa", "rd", "ra"]);
        assert.deepEqual([...reply.answers].sort(), [...expected].sort());
        if (expected[0]?.includes(" CNAME ")) assert.equal(reply.answers[0], expected[0], "the alias comes first");
      }
    });
  }
  assert.equal(await test.metric("dns_requests_total"), rows.length * 2);
  assert.equal(await test.metric("dns_upstream_requests_total"), 0);
});

/** Names that look like names of the table, but are missing there. */
const unknown = [
  "example",
  "details.ns2",
  "productpage.ns2",
  "wildcard",
  "google.com",
  "only-range.example",
  "www.google.com.svc.cluster.local",
  "x.productpage",
  ".",
];

Deno.test("other names are asked upstream, and without name servers the answer is SERVFAIL", async (t) => {
  using test = await startServer();
  for (const name of unknown) {
    await t.step(name, async () => {
      for (const reply of Object.values(await askBoth(test.at, { name }))) assert.equal(reply.rcode, "SERVFAIL");
    });
  }
  assert.equal(await test.metric("dns_upstream_requests_total"), unknown.length * 2);
});
