/**
 * Changes of many objects are taken in steps. Other calls come between two steps, and their reports hold: the sink ends
 * with what the registry knows.
 */
import assert from "node:assert/strict";
import { StandInAddresses } from "../../lib/registry/allocation/stand_ins.ts";
import { OrchRegistry } from "../../lib/registry/orch/registry.ts";
import { ServiceEntryRegistry } from "../../lib/registry/service_entry/registry.ts";
import type { Registry } from "../../lib/registry/types.ts";
import { OPTIONS, RecordingSink, serviceEntry, workloadEntry } from "./objects.ts";
import { object, ORCH_OPTIONS, pod } from "./orch/cluster.ts";

/** More objects than a step takes, and more workloads than a report has. */
const MANY = 1100;

/** Takes a change in steps, with a call after a number of steps. @returns the number of steps */
function interrupted(steps: Generator<void, void>, after: number, call: () => void): number {
  let count = 0;
  for (; !steps.next().done; count++) if (count === after) call();
  return count;
}

/** Asserts that reports ended with what a sink hears that begins now. */
async function assertKnows(sink: RecordingSink, registry: Registry, which: string): Promise<void> {
  const now = new RecordingSink();
  await registry.start(now);
  const state = ({ state: { services, endpoints, workloads } }: RecordingSink) => ({ services, endpoints, workloads });
  assert.deepEqual(state(sink), state(now), which);
}

const checked = (name: string, weight = 1) =>
  workloadEntry(name, { address: "10.0.0.1", labels: { app: "a" }, serviceAccount: "vm", weight }, {
    annotations: { "proxy.mesh.io/health-checks-enabled": "true" },
  });

const CALLS: Readonly<Record<string, (registry: ServiceEntryRegistry) => void>> = {
  "a report of health": (registry) =>
    registry.setHealth({ namespace: "default", name: "w0" }, { healthy: true, serviceAccount: "vm" }),
  "another version": (registry) => registry.apply([checked("w0", 7)], []),
  "the end of an entry": (registry) => registry.apply([], ["WorkloadEntry/default/w0"]),
  "an entry that comes back": (registry) => registry.apply([checked("gone", 7)], []),
};

for (const [what, call] of Object.entries(CALLS)) {
  Deno.test(`between the steps of many workload entries, ${what} is not lost`, async () => {
    const many = Array.from({ length: MANY }, (_, i) => checked(`w${i}`));
    for (let at = 0, steps = 1; at < steps; at++) {
      const registry = new ServiceEntryRegistry(OPTIONS);
      const sink = new RecordingSink();
      registry.apply([serviceEntry("a", { workloadSelector: { labels: { app: "a" } } }), checked("gone")], []);
      await registry.start(sink);
      steps = interrupted(registry.applySteps(many, ["WorkloadEntry/default/gone"]), at, () => call(registry));
      assert.ok(steps > 3);
      await assertKnows(sink, registry, `after step ${at}`);
    }
  });
}

Deno.test("between the steps of many services, an address that is moved is not lost", async () => {
  const many = Array.from(
    { length: MANY },
    (_, i) => object("Service", `s${i}`, { spec: { ports: [{ port: 3306 }] } }),
  );
  for (let at = 0, steps = 1; at < steps; at++) {
    const standIns = new StandInAddresses();
    const services = new OrchRegistry({ ...ORCH_OPTIONS, standIns });
    const entries = new ServiceEntryRegistry({ ...OPTIONS, standIns });
    const sink = new RecordingSink();
    await services.start(sink);
    steps = interrupted(services.applySteps(many, []), at, () => {
      const taken = standIns.addresses("shop/s0")?.IPv4 ?? "240.240.0.1";
      entries.apply([serviceEntry("taker", { addresses: [taken] })], []);
    });
    assert.ok(steps > 3);
    await assertKnows(sink, services, `after step ${at}`);
  }
});

Deno.test("between the steps of many pods and services, other networks are not lost", async () => {
  const many = Array.from({ length: MANY }, (_, i) => pod(`p${i}`, "10.0.0.1", { app: "a" }));
  for (let at = 0, steps = 1; at < steps; at++) {
    let network = "";
    const registry = new OrchRegistry({ ...ORCH_OPTIONS, networkOf: () => network });
    const sink = new RecordingSink();
    await registry.start(sink);
    steps = interrupted(registry.applySteps(many, []), at, () => {
      network = "far";
      registry.again();
    });
    assert.ok(steps > 3);
    await assertKnows(sink, registry, `after step ${at}`);
  }
});
