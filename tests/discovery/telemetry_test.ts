/** What changes of Telemetries cost, and whom they concern. */
import assert from "node:assert/strict";
import { contents, Fixture } from "./fixture.ts";

function service(i: number): object {
  return {
    apiVersion: "networking.mesh.io/v1",
    kind: "ServiceEntry",
    metadata: { name: `s${i}`, namespace: "x" },
    spec: {
      hosts: [`s${i}.example.com`],
      addresses: [`10.1.0.${i}`],
      location: "MESH_INTERNAL",
      resolution: "STATIC",
      ports: [{ number: 9000 + i, name: "tcp", protocol: "TCP" }],
      endpoints: [{ address: `10.0.0.${i}`, labels: { app: `s${i}` } }],
    },
  };
}

function telemetry(name: string, filter: string, app?: string): object {
  const selector = app === undefined ? {} : { selector: { matchLabels: { app } } };
  const spec = { ...selector, accessLogging: [{ providers: [{ name: "envoy" }], filter: { expression: filter } }] };
  return { apiVersion: "telemetry.istio.io/v1", kind: "Telemetry", metadata: { name, namespace: "x" }, spec };
}

const COUNT = 20;

function world() {
  const extensionProviders = [{ name: "envoy", proxyFileAccessLog: { path: "/dev/stdout" } }];
  const fixture = new Fixture({ mesh: { extensionProviders } });
  fixture.put(...Array.from({ length: COUNT }, (_, i) => service(i + 1)));
  fixture.pipeline.flush();
  const states = Array.from({ length: COUNT }, (_, i) => {
    const name = `s${i + 1}`;
    return fixture.join({ namespace: "x", address: `10.0.0.${i + 1}`, name, labels: { app: name } });
  });
  const counted = (change: () => void) => {
    const { caches } = fixture.pipeline.translator;
    const before = caches.listeners.counts.built;
    const sent = states.map(contents);
    change();
    fixture.pipeline.flush();
    assert.deepEqual(fixture.failures, []);
    const isOther = (i: number) => JSON.stringify(sent[i]) !== JSON.stringify(contents(states[i]!));
    return {
      listeners: caches.listeners.counts.built - before,
      changed: states.flatMap((_, i) => isOther(i) ? [i] : []),
    };
  };
  return { fixture, counted };
}

Deno.test("a Telemetry of one workload builds its listeners once, and sends nothing to the others", () => {
  const { fixture, counted } = world();
  assert.deepEqual(counted(() => fixture.put(telemetry("one", "a", "s3"))), { listeners: COUNT, changed: [2] });
  assert.deepEqual(counted(() => fixture.put(telemetry("one", "b", "s3"))), { listeners: COUNT, changed: [2] });
  assert.deepEqual(counted(() => fixture.remove("Telemetry/x/one")), { listeners: 0, changed: [2] });
});

Deno.test("Telemetries of equal content share what is built from them", () => {
  const { fixture, counted } = world();
  fixture.put(telemetry("one", "a", "s1"));
  fixture.pipeline.flush();
  assert.deepEqual(counted(() => fixture.put(telemetry("two", "a", "s2"))), { listeners: 0, changed: [1] });
});

Deno.test("a Telemetry of the namespace builds each listener once for all its workloads", () => {
  const { fixture, counted } = world();
  const all = Array.from({ length: COUNT }, (_, i) => i);
  assert.deepEqual(counted(() => fixture.put(telemetry("all", "a"))), { listeners: COUNT, changed: all });
});
