import assert from "node:assert/strict";
import { MockRegistry } from "../../lib/registry/mock.ts";
import { serviceKey } from "../../lib/registry/types.ts";
import { testConformance } from "./conformance.ts";
import { RecordingSink } from "./objects.ts";

testConformance("mock", () => {
  const registry = new MockRegistry();
  return {
    registry,
    put(service) {
      const key = registry.addService({
        namespace: service.namespace,
        hostname: `${service.name}.example.com`,
        ports: service.ports.map((port) => ({ name: `p${port}`, port, protocol: "TCP" })),
      });
      registry.setEndpoints(
        key,
        service.addresses.flatMap((address) => service.ports.map((port) => ({ address, port, portName: `p${port}` }))),
      );
    },
    remove(service) {
      registry.removeService(serviceKey({ namespace: service.namespace, hostname: `${service.name}.example.com` }));
    },
  };
});

Deno.test("mock: it starts empty", async () => {
  const sink = new RecordingSink();
  await new MockRegistry().start(sink);
  assert.deepEqual(sink.take(), []);
});

Deno.test("mock: health of an address changes its endpoints alone, and only when it is another", async () => {
  const registry = new MockRegistry("c9");
  const sink = new RecordingSink();
  await registry.start(sink);
  const key = registry.addService({ hostname: "a.example.com", ports: [{ name: "http", port: 80, protocol: "HTTP" }] });
  registry.setEndpoints(key, [
    { address: "10.0.0.1", port: 80, portName: "http" },
    { address: "10.0.0.2", port: 80, portName: "http" },
  ]);
  sink.take();
  assert.equal(registry.setHealth(key, "10.0.0.1", "draining"), 1);
  assert.deepEqual(sink.endpointsOf(key).map((endpoint) => endpoint.health), ["draining", "healthy"]);
  assert.equal(registry.setHealth(key, "10.0.0.1", "draining"), 1);
  assert.equal(registry.setHealth(key, "10.9.9.9", "draining"), 0);
  assert.deepEqual(sink.take(), [`endpoints ${key} 2`]);
});

Deno.test("mock: endpoints of a service that was not added are refused with the remedy", () => {
  assert.throws(() => new MockRegistry().setEndpoints("default/x", []), /default\/x.*addService first/);
});
