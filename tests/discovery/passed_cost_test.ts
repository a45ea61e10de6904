/** The cost of gateways between networks (AUTO_PASSTHROUGH) for others: nothing. */
import assert from "node:assert/strict";
import { contents, Fixture, service } from "./fixture.ts";

function gateway(hosts: readonly string[], mode: string): object {
  const server = { port: { number: 15443, name: "tls", protocol: "TLS" }, hosts, tls: { mode } };
  return {
    apiVersion: "networking.mesh.io/v1",
    kind: "Gateway",
    metadata: { name: "g", namespace: "x" },
    spec: { selector: { app: "eastwest" }, servers: [server] },
  };
}

Deno.test("results for connections passed on by name are built only for gateways that pass connections on, and leave other results alone", () => {
  const fixture = new Fixture();
  for (let i = 0; i < 20; i++) fixture.put(service(i));
  fixture.put(gateway(["*.test"], "PASSTHROUGH"));
  fixture.pipeline.flush();
  const { caches } = fixture.pipeline.translator;
  const sidecar = fixture.join({ namespace: "x", address: "10.9.0.1" });
  const other = fixture.join({ namespace: "x", address: "10.9.0.2", type: "router", labels: { app: "other" } });
  const eastwest = fixture.join({ namespace: "x", address: "10.9.0.3", type: "router", labels: { app: "eastwest" } });
  assert.equal(caches.of.passedClusters.counts.built + caches.of.passedAssignments.counts.built, 0);

  const before = [sidecar, other].map(contents);
  const built = () =>
    [caches.of.clusters, caches.of.assignments, caches.of.contributions].map(({ counts }) => counts.built);
  const builtBefore = built();
  const names = () => Object.keys(contents(eastwest)).filter((name) => name.includes("/outbound_."));
  fixture.put(gateway(["*.example.com"], "AUTO_PASSTHROUGH"));
  fixture.pipeline.flush();
  assert.equal(names().length, 40, "a cluster and its endpoints for each service");
  assert.deepEqual([sidecar, other].map(contents), before);
  assert.deepEqual(built(), builtBefore);

  const { counts } = caches.of.passedClusters;
  const passedBefore = counts.built;
  fixture.put({ ...gateway(["*.example.com"], "AUTO_PASSTHROUGH"), metadata: { name: "h", namespace: "x" } });
  fixture.pipeline.flush();
  assert.equal(counts.built, passedBefore, "another object that says the same");
  const listener = contents(eastwest)["listener/0.0.0.0_15443"];
  fixture.put(service(20));
  fixture.pipeline.flush();
  assert.equal(counts.built, passedBefore + 1, "one service more");
  assert.equal(names().length, 42);
  assert.equal(contents(eastwest)["listener/0.0.0.0_15443"], listener);

  fixture.remove("Gateway/x/g", "Gateway/x/h");
  fixture.pipeline.flush();
  assert.deepEqual(names(), []);
});
