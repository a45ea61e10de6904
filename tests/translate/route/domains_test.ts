import assert from "node:assert/strict";
import type { Service } from "../../../lib/registry/types.ts";
import { hostDomains, shortForms, virtualHostName, withPort } from "../../../lib/translate/route/domains.ts";
import { meshReader } from "../mesh_reader.ts";
import { service } from "./objects.ts";

const cases: [host: string, dnsDomain: string, forms: string[]][] = [
  ["foo.ns.svc.cluster.local", "ns.svc.cluster.local", ["foo", "foo.ns", "foo.ns.svc"]],
  ["foo.ns.svc.cluster.local", "other.svc.cluster.local", ["foo.ns", "foo.ns.svc"]],
  ["pod.foo.ns.svc.cluster.local", "ns.svc.cluster.local", ["pod.foo.ns", "pod.foo.ns.svc"]],
  ["foo.ns.svc.example.org", "ns.svc.cluster.local", []],
  ["api.example.com", "ns.svc.cluster.local", []],
  ["svc.cluster.local", "ns.svc.cluster.local", []],
  ["foo.svc.cluster.local", "ns.svc.cluster.local", []],
  ["foo.local.campus.net", "local.campus.net", ["foo"]],
  ["foo.local.campus.net", "remote.campus.net", ["foo.local", "foo.local.campus"]],
  ["foo.example.com", "campus.net", []],
  ["foo.example.com", "", []],
  ["campus.net", "campus.net", []],
];
for (const [host, dnsDomain, forms] of cases) {
  Deno.test(`a client in ${dnsDomain || "no domain"} names ${host} also ${forms.join(", ") || "by nothing else"}`, () => {
    assert.deepEqual(shortForms(host, dnsDomain), forms);
  });
}

function domains(one: Partial<Service> & { hostname: string }, world: Parameters<typeof meshReader>[0] = {}) {
  return hostDomains(meshReader(world), one.hostname, service(one));
}

Deno.test("a service answers to its names, the absolute one, and its addresses, but not to ranges or 0.0.0.0", () => {
  const addresses = ["10.0.0.1", "10.1.0.0/16", "0.0.0.0"];
  assert.deepEqual(domains({ hostname: "foo.default.svc.cluster.local", addresses }), [
    "foo.default.svc.cluster.local",
    "foo.default.svc.cluster.local.",
    "foo",
    "foo.default",
    "foo.default.svc",
    "10.0.0.1",
  ]);
});

Deno.test("the absolute name can be turned off", () => {
  const settings = { enableAbsoluteFqdnVhostDomain: false };
  assert.deepEqual(domains({ hostname: "api.example.com" }, { settings }), ["api.example.com"]);
});

Deno.test("an IPv6 address is written in brackets and has no absolute form", () => {
  const properties = { ipv4: false, ipv6: true };
  assert.deepEqual(domains({ hostname: "2001:db8::1", addresses: ["2001:db8::2"] }, { properties }), [
    "[2001:db8::1]",
    "[2001:db8::2]",
  ]);
  assert.equal(virtualHostName("2001:db8::1", 80), "[2001:db8::1]:80");
});

Deno.test("single pods of an orchestrator's headless service are named under each of its names", () => {
  const all = domains({ hostname: "db.default.svc.cluster.local", headless: true, provider: "Orch" });
  for (const name of ["db", "db.default.svc.cluster.local", "db.default.svc.cluster.local."]) {
    assert.ok(all.includes(`*.${name}`), name);
  }
  assert.equal(
    domains({ hostname: "db.default.svc.cluster.local", headless: true }).some((d) => d.startsWith("*")),
    false,
  );
});

Deno.test("domains are in lower case, as Envoy compares them", () => {
  assert.deepEqual(domains({ hostname: "API.Example.com" }), ["api.example.com", "api.example.com."]);
});

Deno.test("no domain occurs twice", () => {
  const all = domains({ hostname: "10.0.0.1", addresses: ["10.0.0.1"] });
  assert.deepEqual(all, ["10.0.0.1"]);
});

Deno.test("where the port distinguishes services, 80 may be left out and others may not", () => {
  assert.deepEqual(withPort(["a", "[::1]"], 80), ["a", "a:80", "[::1]", "[::1]:80"]);
  assert.deepEqual(withPort(["a", "*.b"], 8080), ["a:8080", "*.b:8080"]);
});

Deno.test("hosts of one namespace share their questions about the proxy", () => {
  const asked = (host: string) => {
    const read = meshReader();
    hostDomains(read, host, service({ hostname: host }));
    return read.asked;
  };
  const questions = asked("foo.default.svc.cluster.local");
  assert.deepEqual(questions, ["derived/orchestratorDnsDomain", "derived/nearness=default.svc.cluster.local"]);
  assert.deepEqual(asked("bar.default.svc.cluster.local"), questions);
  assert.deepEqual(asked("api.example.com"), ["derived/orchestratorDnsDomain"]);
});
