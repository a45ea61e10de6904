/** The cost of changes of rules about tokens, and of issuers' keys, and the affected proxies. */
import assert from "node:assert/strict";
import { contents, Fixture, service } from "./fixture.ts";

const keysAt = (issuer: string) => `http://${issuer}.example/keys`;

function tokens(name: string, issuer: string, app?: string): object {
  const selector = app === undefined ? {} : { selector: { matchLabels: { app } } };
  const spec = { ...selector, jwtRules: [{ issuer, jwksUri: keysAt(issuer) }] };
  const head = { apiVersion: "security.mesh.io/v1", kind: "RequestAuthentication" };
  return { ...head, metadata: { name, namespace: "x" }, spec };
}

function world(count: number) {
  const fixture = new Fixture();
  fixture.put(...Array.from({ length: count }, (_, i) => service(i + 1)));
  fixture.pipeline.flush();
  const join = (i: number) =>
    fixture.join({ namespace: "x", address: `10.0.0.${i}`, name: `s${i}`, labels: { app: `s${i}` } });
  const states = Array.from({ length: count }, (_, i) => join(i + 1));
  const counted = (change: () => void) => {
    const { caches } = fixture.pipeline.translator;
    const before = { inbound: caches.of.inbound.counts.built, shared: caches.stats().misses };
    const sent = states.map(contents);
    change();
    fixture.pipeline.flush();
    assert.deepEqual(fixture.failures, []);
    const isOther = (i: number) => JSON.stringify(sent[i]) !== JSON.stringify(contents(states[i]!));
    return {
      inbound: caches.of.inbound.counts.built - before.inbound,
      shared: caches.stats().misses - before.shared,
      changed: states.flatMap((_, i) => isOther(i) ? [i] : []),
    };
  };
  return { fixture, states, counted };
}

Deno.test("an edit of one workload's rules builds its inbound side once, and sends nothing to the others", () => {
  const { fixture, counted } = world(40);
  const one = { inbound: 1, shared: 0, changed: [0] };
  assert.deepEqual(counted(() => fixture.put(tokens("one", "a", "s1"))), one);
  assert.deepEqual(counted(() => fixture.put(tokens("one", "b", "s1"))), one);
  assert.deepEqual(counted(() => fixture.remove("RequestAuthentication/x/one")), { ...one, inbound: 0 });
});

Deno.test("changed keys of an issuer affect the workloads that accept its tokens; the same keys again affect no workload", () => {
  const { fixture, counted } = world(40);
  fixture.put(tokens("one", "a", "s1"), tokens("two", "a", "s2"), tokens("three", "b", "s3"));
  fixture.pipeline.flush();
  const fetch = (issuer: string, keys: string) => {
    fixture.tokenKeys.set(keysAt(issuer), keys);
    fixture.pipeline.tokenKeysChanged(keysAt(issuer));
  };
  assert.deepEqual(counted(() => fetch("a", "A")), { inbound: 2, shared: 0, changed: [0, 1] });
  assert.deepEqual(counted(() => fetch("b", "B")), { inbound: 1, shared: 0, changed: [2] });
  assert.deepEqual(counted(() => fetch("b", "B")).changed, []);
  assert.deepEqual(counted(() => fetch("c", "C")), { inbound: 0, shared: 0, changed: [] });
});
