/**
 * Tests for every registry, with any source. A registry's test calls `testConformance` with a driver, which brings a
 * model of services about in the registry's own source.
 * @module
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Registry } from "../../lib/registry/types.ts";
import { RecordingSink } from "./objects.ts";
import { runs } from "../properties.ts";

/** A service for a driver to bring about: static, TCP ports named `p<number>`. */
export interface ModelService {
  readonly namespace: string;
  /** A label; the driver chooses the domain. */
  readonly name: string;
  readonly ports: readonly number[];
  /** IP addresses for all ports. */
  readonly addresses: readonly string[];
}

/** Brings services about in a registry's source. */
export interface Driver {
  readonly registry: Registry;
  /** Adds the service, or changes the service to the model. */
  put(service: ModelService): void | Promise<void>;
  /** Removes an existing service. */
  remove(service: ModelService): void | Promise<void>;
  /** Resolves when all changes have been reported; a synchronous registry needs no such function. */
  settled?(): Promise<void>;
  /** Frees the driver's resources. */
  close?(): void | Promise<void>;
}

/** Options of the suite. */
export interface ConformanceOptions {
  /** Runs of the random test; default 100. */
  readonly runs?: number;
}

const A: ModelService = { namespace: "ns1", name: "a", ports: [80, 443], addresses: ["10.0.0.1", "10.0.0.2"] };
const B: ModelService = { namespace: "ns2", name: "b", ports: [9090], addresses: ["10.0.1.1"] };

/** Registers the tests of the suite for a kind of registry. */
export function testConformance(name: string, create: () => Driver, options: ConformanceOptions = {}): void {
  const test = (what: string, body: (driver: Driver, sink: RecordingSink) => Promise<void>) =>
    Deno.test(`${name}: ${what}`, async () => {
      const driver = create();
      try {
        await body(driver, new RecordingSink());
      } finally {
        await driver.registry.stop();
        await driver.close?.();
      }
    });

  test("the content at start is reported before start resolves", async (driver, sink) => {
    await put(driver, A, B);
    await driver.registry.start(sink);
    assert.deepEqual([...sink.state.services.values()].map((service) => service.namespace).sort(), ["ns1", "ns2"]);
    assert.equal([...sink.state.endpoints.values()].flatMap((shards) => [...shards.values()]).flat().length, 5);
  });

  test("a start without anything resolves", async (driver, sink) => {
    await driver.registry.start(sink);
    assert.deepEqual(sink.state.services.size, 0);
  });

  test("a service added later is reported with its endpoints, each behind a port that it has", async (driver, sink) => {
    await driver.registry.start(sink);
    await put(driver, A);
    const [key] = [...sink.state.services.keys()];
    const ports = sink.state.services.get(key!)!.ports.map((port) => port.name);
    assert.deepEqual(ports, ["p80", "p443"]);
    assert.deepEqual(
      [...new Set(sink.endpointsOf(key!).map((endpoint) => endpoint.portName))].sort(),
      [...ports].sort(),
    );
    assert.ok(sink.endpointsOf(key!).every((endpoint) => endpoint.clusterId === driver.registry.clusterId));
  });

  test("a change that occurs twice is reported once", async (driver, sink) => {
    await driver.registry.start(sink);
    await put(driver, A, B);
    sink.take();
    await put(driver, A);
    assert.deepEqual(sink.take(), []);
  });

  test("a change reports the full list of that service alone", async (driver, sink) => {
    await driver.registry.start(sink);
    await put(driver, A, B);
    const key = [...sink.state.services.keys()].find((candidate) => candidate.startsWith("ns2/"))!;
    sink.take();
    await put(driver, { ...B, addresses: ["10.0.1.1", "10.0.1.2"] });
    assert.deepEqual(sink.take().filter((call) => !call.includes("workload ")), [`endpoints ${key} 2`]);
    assert.deepEqual(sink.addresses(key).sort(), ["10.0.1.1:9090/p9090", "10.0.1.2:9090/p9090"]);
  });

  test("a service whose last endpoint goes stays, with an empty shard", async (driver, sink) => {
    await driver.registry.start(sink);
    await put(driver, A);
    await put(driver, { ...A, addresses: [] });
    assert.equal(sink.state.services.size, 1);
    assert.equal(sink.state.endpoints.size, 0);
  });

  test("a removed service takes its endpoints with it", async (driver, sink) => {
    await driver.registry.start(sink);
    await put(driver, A, B);
    await driver.remove(A);
    await driver.settled?.();
    assert.deepEqual([...sink.state.services.values()].map((service) => service.namespace), ["ns2"]);
    assert.deepEqual([...sink.state.endpoints.keys()].map((key) => key.split("/")[0]), ["ns2"]);
  });

  test("all its endpoints are in one shard, named after provider and cluster", async (driver, sink) => {
    await driver.registry.start(sink);
    await put(driver, A, B);
    const shards = new Set([...sink.state.endpoints.values()].flatMap((byShard) => [...byShard.keys()]));
    assert.deepEqual([...shards], [`${driver.registry.provider}/${driver.registry.clusterId}`]);
  });

  test("nothing is reported after stop", async (driver, sink) => {
    await driver.registry.start(sink);
    await driver.registry.stop();
    await put(driver, A);
    assert.deepEqual(sink.take(), []);
  });

  Deno.test(`${name}: any order of events ends in the state that a fresh registry reports`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 25 }), fc.nat({ max: 25 }), async (events, startAt) => {
        const world = new Map<string, ModelService>();
        const old = await replay(create(), events, startAt, world);
        const fresh = create();
        const sink = new RecordingSink();
        for (const service of world.values()) await put(fresh, service);
        await fresh.registry.start(sink);
        await finish(fresh);
        assert.deepEqual(old.state, sink.state);
      }),
      { numRuns: runs(options.runs ?? 100) },
    );
  });
}

interface Event {
  readonly remove: boolean;
  readonly service: ModelService;
}

const event: fc.Arbitrary<Event> = fc.record({
  remove: fc.boolean(),
  service: fc.record({
    namespace: fc.constantFrom("ns1", "ns2"),
    name: fc.constantFrom("a", "b", "c"),
    ports: fc.constantFrom([80], [80, 443]),
    addresses: fc.subarray(["10.0.0.1", "10.0.0.2", "10.0.0.3"]),
  }),
});

/** Starts the registry after `startAt` events; leaves the final services in `world`. */
async function replay(driver: Driver, events: readonly Event[], startAt: number, world: Map<string, ModelService>) {
  const sink = new RecordingSink();
  let started = false;
  for (const [index, { remove, service }] of events.entries()) {
    if (index === startAt) {
      await driver.registry.start(sink);
      started = true;
    }
    const key = `${service.namespace}/${service.name}`;
    if (!remove) {
      world.set(key, service);
      await put(driver, service);
    } else if (world.has(key)) {
      await driver.remove(world.get(key)!);
      world.delete(key);
      await driver.settled?.();
    }
  }
  if (!started) await driver.registry.start(sink);
  await finish(driver);
  return sink;
}

async function finish(driver: Driver): Promise<void> {
  await driver.settled?.();
  await driver.registry.stop();
  await driver.close?.();
}

async function put(driver: Driver, ...services: readonly ModelService[]): Promise<void> {
  for (const service of services) await driver.put(service);
  await driver.settled?.();
}
