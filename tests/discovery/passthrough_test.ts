/** The cost and the sharing of filter chains for unnamed ports. */
import assert from "node:assert/strict";
import { Fixture, service, texts } from "./fixture.ts";

const AGENT = { PROXY_CONFIG: { stringValue: "{}" } };

function strict(selected?: string): object {
  return {
    apiVersion: "security.mesh.io/v1",
    kind: "PeerAuthentication",
    metadata: { name: selected ?? "all", namespace: "x" },
    spec: { mtls: { mode: "STRICT" }, ...selected && { selector: { matchLabels: { app: selected } } } },
  };
}

function world(count: number) {
  const fixture = new Fixture();
  fixture.put(...Array.from({ length: count }, (_, i) => service(i + 1)));
  fixture.pipeline.flush();
  const states = Array.from({ length: count }, (_, i) =>
    fixture.join({
      namespace: "x",
      address: `10.0.${(i + 1) >> 8}.${(i + 1) & 255}`,
      name: `s${i + 1}`,
      labels: { app: `s${i + 1}` },
      metadata: AGENT,
    }));
  const { inbound, passthrough } = fixture.pipeline.translator.caches.of;
  const change = (...trees: object[]) => {
    const before = { inbound: inbound.counts.built, passthrough: passthrough.counts.built };
    fixture.put(...trees);
    fixture.pipeline.flush();
    assert.deepEqual(fixture.failures, []);
    return {
      inbound: inbound.counts.built - before.inbound,
      passthrough: passthrough.counts.built - before.passthrough,
    };
  };
  return { states, inbound, passthrough, change };
}

const plainText = /catchall-http.*"transport_protocol":"raw_buffer"/s;

Deno.test("400 proxies beside other services, under equal policies, build the chains of unnamed ports once", () => {
  const { inbound, passthrough, states } = world(400);
  assert.equal(inbound.counts.built, 400);
  assert.deepEqual({ ...passthrough.counts }, { built: 1, reused: 399, dropped: 0, crowdedOut: 0 });
  for (const i of [0, 399]) assert.match(texts(states[i]!)["listener/virtualInbound"] ?? "", plainText);
});

Deno.test("a policy for one workload gives it separate chains for unnamed ports; a policy for all workloads builds one more set for the others", () => {
  const { states, change } = world(20);
  const [first, second] = states;
  assert.deepEqual(change(strict("s1")), { inbound: 1, passthrough: 1 });
  assert.doesNotMatch(texts(first!)["listener/virtualInbound"] ?? "", plainText);
  assert.match(texts(second!)["listener/virtualInbound"] ?? "", plainText);
  assert.deepEqual(change(strict()), { inbound: 20, passthrough: 2 });
  for (const state of states) assert.doesNotMatch(texts(state)["listener/virtualInbound"] ?? "", plainText);
});

Deno.test("policies of 400 workloads, each with one, crowd no chains out", () => {
  const { passthrough, change } = world(400);
  change(...Array.from({ length: 400 }, (_, i) => strict(`s${i + 1}`)));
  assert.equal(passthrough.counts.built, 401);
  assert.equal(passthrough.counts.crowdedOut, 0);
});
