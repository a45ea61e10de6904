/** The cost of changes of a PeerAuthentication, and their effect on each proxy. */
import assert from "node:assert/strict";
import { findingKeys } from "../../lib/finding/finding.ts";
import { contents, Fixture, service, type TestNode, texts } from "./fixture.ts";

const APP = { endpoint: { serviceAccount: "app" } };

const AGENT = { PROXY_CONFIG: { stringValue: "{}" } };

function policy(name: string, spec: object, namespace = "x"): object {
  return { apiVersion: "security.mesh.io/v1", kind: "PeerAuthentication", metadata: { name, namespace }, spec };
}

const one = (i: number, mode: string) => policy("one", { selector: { matchLabels: { app: `s${i}` } }, mtls: { mode } });

function world(count: number, metadata: NonNullable<TestNode["metadata"]> = AGENT) {
  const fixture = new Fixture();
  fixture.put(...Array.from({ length: count }, (_, i) => service(i + 1, APP)));
  fixture.pipeline.flush();
  const states = Array.from({ length: count }, (_, i) =>
    fixture.join({
      namespace: "x",
      address: `10.0.0.${i + 1}`,
      name: `s${i + 1}`,
      labels: { app: `s${i + 1}` },
      metadata,
    }));
  const builds = () => {
    const { caches } = fixture.pipeline.translator;
    return { inbound: caches.of.inbound.counts.built, shared: caches.stats().misses };
  };
  const change = (...trees: object[]) => {
    const before = builds();
    fixture.put(...trees);
    fixture.pipeline.flush();
    const after = builds();
    assert.deepEqual(fixture.failures, []);
    return { inbound: after.inbound - before.inbound, shared: after.shared - before.shared };
  };
  return { fixture, states, change };
}

Deno.test("an edit of one workload's policy builds its inbound side once, and sends nothing to the others", () => {
  const { states, change, fixture } = world(40);
  const [first, ...others] = states;
  const replica = fixture.join({
    namespace: "x",
    address: "10.0.0.1",
    name: "r",
    labels: { app: "s1" },
    metadata: AGENT,
  });
  const before = others.map(contents);
  assert.deepEqual(change(one(1, "STRICT")), { inbound: 1, shared: 0 });
  assert.deepEqual(others.map(contents), before);
  const listener = (state: typeof replica) => texts(state)["listener/virtualInbound"] ?? "";
  assert.doesNotMatch(listener(first!), /"destination_port":\{"value":80\},"transport_protocol":"raw_buffer"/);
  assert.equal(listener(first!), listener(replica));
  assert.deepEqual(change(one(1, "PERMISSIVE")), { inbound: 1, shared: 0 });
  assert.deepEqual(change(one(2, "STRICT")), { inbound: 1, shared: 0 }, "what the first had without it is found again");
});

Deno.test("a policy for the mesh that narrower policies override builds only the results that it reaches", () => {
  const { change } = world(10);
  change(policy("all", { mtls: { mode: "STRICT" } }));
  assert.deepEqual(change(policy("all", { mtls: { mode: "STRICT" } }, "mesh-system")).shared, 0);
  assert.deepEqual(change(policy("other", { mtls: { mode: "STRICT" } }, "elsewhere")), { inbound: 0, shared: 0 });
});

Deno.test("policies without an effect on proxies without an identity cost these proxies nothing", () => {
  const { states, change } = world(5, {});
  const before = states.map(contents);
  change(policy("all", { mtls: { mode: "PERMISSIVE" } }));
  assert.deepEqual(states.map(contents), before);
  for (const text of states.flatMap((state) => Object.values(texts(state)))) {
    assert.doesNotMatch(text, /transport_socket|tlsMode|http_alpn/);
  }
});

Deno.test("DISABLE turns the mark of endpoints off and on again, and builds no cluster", () => {
  const { states, change, fixture } = world(3);
  const marked = () => /tlsMode/.test(texts(states[2]!)["assignment/outbound|80||s1.example.com"] ?? "");
  const clusters = () => fixture.pipeline.translator.caches.of.clusters.counts.built;
  assert.equal(marked(), true);
  const before = clusters();
  change(one(1, "DISABLE"));
  assert.equal(marked(), false);
  change(one(1, "STRICT"));
  assert.equal(marked(), true);
  assert.equal(clusters(), before);
});

Deno.test("clusters are rebuilt when a service has other accounts, not when its endpoints change", () => {
  const { change, fixture, states } = world(2);
  const clusters = () => fixture.pipeline.translator.caches.of.clusters.counts.built;
  const entry = (i: number) => ({
    apiVersion: "networking.mesh.io/v1",
    kind: "WorkloadEntry",
    metadata: { name: `w${i}`, namespace: "x" },
    spec: { address: `10.0.1.${i}`, labels: { app: "selected" }, serviceAccount: i < 3 ? "pay" : "bill" },
  });
  const selecting = service(9, APP) as { spec: object };
  const { endpoints: _, ...spec } = selecting.spec as { endpoints: unknown };
  change({ ...selecting, spec: { ...spec, workloadSelector: { labels: { app: "selected" } } } }, entry(1));
  const before = clusters();
  change(entry(2));
  assert.equal(clusters(), before);
  change(entry(3));
  assert.equal(clusters(), before + 1);
  const text = texts(states[0]!)["cluster/outbound|80||s9.example.com"] ?? "";
  assert.match(text, /sa\/bill.*sa\/pay/);
});

Deno.test("a port that a policy closes is a finding of the policy, which goes with it", () => {
  const { change, fixture } = world(1, {});
  change(one(1, "STRICT"));
  const found = fixture.pipeline.translator.warnings().filter(({ message }) =>
    /is closed: mutual TLS is STRICT/.test(message)
  );
  assert.deepEqual(found.map((finding) => findingKeys(finding)[0]), Array(2).fill("PeerAuthentication/x/one"));
  change(one(1, "PERMISSIVE"));
  assert.deepEqual(fixture.pipeline.translator.warnings(), []);
});
