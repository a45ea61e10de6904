/**
 * Entries of the same hosts, workloads, reports of health and addresses of a status, in batches of any order: the sink
 * ends with what a registry reports that has only the last objects.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { AnyConfigObject } from "../../../lib/config/types.ts";
import type { HealthReport, ReportPlace } from "../../../lib/registry/service_entry/reported_health.ts";
import { ServiceEntryRegistry } from "../../../lib/registry/service_entry/registry.ts";
import type { Workload } from "../../../lib/registry/types.ts";
import { OPTIONS, pod, RecordingSink, serviceEntry, workloadEntry } from "../objects.ts";
import { runs } from "../../properties.ts";

const namespace = fc.constantFrom("default", "other");
const app = fc.constantFrom("a", "b");
const address = fc.constantFrom("10.0.0.1", "10.0.0.2", "name.com");

const anyEntry = fc.record({
  name: fc.constantFrom("e1", "e2", "e3"),
  namespace,
  hosts: fc.subarray(["h1.com", "h2.com", "*.wild.com"], { minLength: 1 }),
  from: fc.oneof(
    app.map((app) => ({ workloadSelector: { labels: { app } } })),
    fc.subarray(["10.1.1.1", "10.1.1.2"]).map((all) => ({ endpoints: all.map((address) => ({ address })) })),
  ),
  resolution: fc.constantFrom("STATIC" as const, "DNS" as const, "DNS_ROUND_ROBIN" as const),
  ports: fc.subarray([80, 81, 82], { minLength: 1 }),
  portName: fc.constantFrom("http", "web"),
  addresses: fc.constantFrom([], [], ["10.9.0.1"], ["240.240.0.1"]),
  exportTo: fc.constantFrom([], ["."]),
  createdAt: fc.constantFrom(0, 0, 1),
  assigned: fc.constantFrom(undefined, undefined, "240.240.0.1", "240.240.0.2"),
}).map(({ name, namespace, from, portName, createdAt, assigned, ports, ...spec }): AnyConfigObject => {
  const made = serviceEntry(name, {
    ...{ ...spec, ...from },
    ports: ports.map((number, i) => ({ number, name: i === 0 ? portName : `${portName}-${i}`, protocol: "HTTP" })),
  }, { namespace, creationTimestamp: createdAt });
  return assigned === undefined
    ? made
    : { ...made, assigned: spec.hosts.map((host) => ({ host, value: assigned })) } as AnyConfigObject;
});

const anyWorkload = fc.record({
  name: fc.constantFrom("w1", "w2", "w3"),
  namespace,
  app,
  address,
  isChecked: fc.boolean(),
  healthy: fc.constantFrom(undefined, undefined, true, false),
}).map(({ name, namespace, app, address, isChecked, healthy }): AnyConfigObject => ({
  ...workloadEntry(name, { address, labels: { app } }, {
    namespace,
    annotations: isChecked ? { "proxy.mesh.io/health-checks-enabled": "true" } : {},
  }),
  ...(healthy !== undefined && { healthy }),
}));

const place = fc.oneof<fc.Arbitrary<ReportPlace>[]>(
  fc.record({ namespace, name: fc.constantFrom("w1", "w2") }),
  fc.record({ namespace, address: fc.constantFrom("10.0.0.1", "10.0.0.2") }),
);
const batch = fc.record({
  put: fc.array(fc.oneof(anyEntry, anyWorkload), { maxLength: 4 }),
  removed: fc.array(fc.nat(), { maxLength: 2 }),
});
const anyStep = fc.oneof(
  { weight: 6, arbitrary: batch },
  {
    weight: 2,
    arbitrary: fc.record({ pod: fc.record({ name: fc.constantFrom("p1", "p2"), app, address }), gone: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ place, healthy: fc.option(fc.boolean(), { nil: undefined }) }) },
);

const ORCH = { provider: "Orch", clusterId: "c1" } as const;

/** The last objects, pods and reports. */
class World {
  readonly objects = new Map<string, AnyConfigObject>();
  readonly pods = new Map<string, Workload>();
  readonly reports = new Map<string, { readonly place: ReportPlace; readonly report: HealthReport }>();

  /** A registry that has these alone. */
  registry(): ServiceEntryRegistry {
    const registry = new ServiceEntryRegistry(OPTIONS);
    for (const { place, report } of this.reports.values()) registry.setHealth(place, report);
    registry.onWorkloads(ORCH, [...this.pods.values()].reverse(), []);
    registry.apply([...this.objects.values()].reverse(), []);
    return registry;
  }
}

function take(
  registry: ServiceEntryRegistry,
  world: World,
  step: typeof anyStep extends fc.Arbitrary<infer S> ? S : never,
) {
  if ("pod" in step) {
    const one = pod(step.pod.name, step.pod.address, { app: step.pod.app });
    if (step.gone) world.pods.delete(one.id);
    else world.pods.set(one.id, one);
    registry.onWorkloads(ORCH, step.gone ? [] : [one], step.gone ? [one.id] : []);
  } else if ("place" in step) {
    const { place, healthy } = step;
    const report = healthy === undefined ? undefined : { healthy };
    if (report === undefined) world.reports.delete(JSON.stringify(place));
    else world.reports.set(JSON.stringify(place), { place, report });
    registry.setHealth(place, report);
  } else {
    const keys = [...world.objects.keys()];
    const put = [...new Map(step.put.map((one) => [one.key, one])).values()];
    // An object that is replaced may be among the removed.
    const removed = keys.length === 0 ? [] : [...new Set(step.removed.map((at) => keys[at % keys.length]!))];
    for (const key of removed) world.objects.delete(key);
    for (const one of put) world.objects.set(one.key, one);
    registry.apply(put, removed);
  }
}

async function stateOf(registry: ServiceEntryRegistry) {
  const sink = new RecordingSink();
  await registry.start(sink);
  return sink.state;
}

Deno.test("after any batches a registry has told what a registry knows that has only the last objects", async () => {
  const met = { merged: 0, moved: 0, checked: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), fc.nat(20), async (steps, startAt) => {
      const [registry, world, sink] = [new ServiceEntryRegistry(OPTIONS), new World(), new RecordingSink()];
      for (const [at, step] of steps.entries()) {
        if (at === startAt) await registry.start(sink);
        take(registry, world, step);
      }
      if (startAt >= steps.length) await registry.start(sink);
      assert.deepEqual(sink.state, await stateOf(registry), "the sink knows what the registry knows");
      const fresh = world.registry();
      assert.deepEqual(sink.state, await stateOf(fresh));
      assert.deepEqual(registry.automaticAddresses, fresh.automaticAddresses);
      for (const key of world.objects.keys()) assert.deepEqual(registry.assignment(key), fresh.assignment(key));
      const { services, workloads } = sink.state;
      met.merged += [...services.values()].filter(({ otherCauses }) => otherCauses !== undefined).length;
      met.moved += [...services.values()].filter((one) => one.autoAllocatedAddresses?.includes("240.240.0.2")).length;
      met.checked += [...workloads.values()].filter(({ health }) => health === "unhealthy").length;
    }),
    { numRuns: runs(300) },
  );
  assert.ok(Object.values(met).every((count) => count > 30), JSON.stringify(met));
});
