/** The cost of changes of an AuthorizationPolicy, and their effect on each proxy. */
import assert from "node:assert/strict";
import { findingKeys } from "../../lib/finding/finding.ts";
import { contents, Fixture, service, serviceAddress as address, texts } from "./fixture.ts";

function policy(name: string, spec: object, namespace = "x"): object {
  return { apiVersion: "security.mesh.io/v1", kind: "AuthorizationPolicy", metadata: { name, namespace }, spec };
}

const own = (i: number, path: string) =>
  policy(`p${i}`, { selector: { matchLabels: { app: `s${i}` } }, rules: [{ to: [{ operation: { paths: [path] } }] }] });

function world(services: number, proxies: number, ...more: object[]) {
  const fixture = new Fixture();
  fixture.put(...Array.from({ length: services }, (_, i) => service(i)), ...more);
  fixture.pipeline.flush();
  const join = (i: number, name = `s${i}`) =>
    fixture.join({ namespace: "x", address: address(i), name, labels: { app: `s${i}` } });
  const states = Array.from({ length: proxies }, (_, i) => join(i));
  const built = () => {
    const { caches } = fixture.pipeline.translator;
    return { inbound: caches.of.inbound.counts.built, shared: caches.stats().misses };
  };
  const change = (...trees: object[]) => {
    const before = built();
    fixture.put(...trees);
    fixture.pipeline.flush();
    assert.deepEqual(fixture.failures, []);
    const after = built();
    return { inbound: after.inbound - before.inbound, shared: after.shared - before.shared };
  };
  return { fixture, states, join, change };
}

Deno.test("of 1,000 policies over 1,000 services one edit builds one inbound side, and changes no other proxy", () => {
  const policies = Array.from({ length: 1000 }, (_, i) => own(i, "/a"));
  const { states, change, join } = world(1000, 100, ...policies);
  const replica = join(7, "replica");
  const [edited, others] = [states[7]!, states.filter((_, i) => i !== 7)];
  const before = others.map(contents);
  const was = contents(edited);
  assert.deepEqual(change(own(7, "/b")), { inbound: 1, shared: 0 });
  assert.deepEqual(others.map(contents), before);
  assert.notDeepEqual(contents(edited), was);
  assert.deepEqual(contents(replica), contents(edited));
  assert.deepEqual(change(own(500, "/b")), { inbound: 0, shared: 0 }, "its workload is not connected");
  assert.deepEqual(change(own(7, "/b")), { inbound: 0, shared: 0 }, "nothing changed");
});

Deno.test("a policy of the mesh builds each inbound side once, and a policy of another namespace builds no inbound side", () => {
  const { change, states } = world(20, 20);
  assert.deepEqual(change(policy("all", { rules: [{}] }, "elsewhere")), { inbound: 0, shared: 0 });
  assert.deepEqual(change(policy("all", { rules: [{}] }, "mesh-system")), { inbound: 20, shared: 0 });
  const listener = texts(states[0]!)["listener/virtualInbound"] ?? "";
  assert.match(listener, /ns\[mesh-system\]-policy\[all\]-rule\[0\]/);
});

Deno.test("a rule about requests on a port that is declared to carry bytes is a finding of the policy, which goes with it", () => {
  const { change, fixture } = world(0, 0, service(1, { port: { protocol: "TCP" } }), service(2));
  fixture.join({ namespace: "x", address: address(1), name: "a", labels: { app: "s1" } });
  fixture.join({ namespace: "x", address: address(2), name: "b", labels: { app: "s2" } });
  change(own(1, "/a"), own(2, "/a"));
  const found = () => fixture.pipeline.translator.warnings().filter(({ name }) => name === "http-rule-for-bytes");
  assert.deepEqual(found().map((one) => [findingKeys(one), one.message]), [[
    ["AuthorizationPolicy/x/p1"],
    "port 80 carries bytes, which have no paths: rules[0] never matches there",
  ]]);
  change(policy("p1", { selector: { matchLabels: { app: "s1" } }, rules: [{}] }));
  assert.deepEqual(found(), []);
});
