/**
 * Benchmark: endpoint events at a fixed rate through registry, aggregate and endpoint index.
 *
 * 1,000 services of 10 endpoints each. An event moves a workload to another address. Changes are drained ten times a
 * second, as in a debounced push. Two forms: the report of a registry that knows its lists (`sink`), and WorkloadEntry
 * objects picked by selectors (`entries`), in batches like a config store's.
 *
 * @module
 */
import process from "node:process";
import type { AnyConfigObject } from "../../lib/config/types.ts";
import { Aggregate } from "../../lib/registry/aggregate.ts";
import type { Endpoint, ServiceKey } from "../../lib/registry/types.ts";
import { EndpointIndex } from "../../lib/registry/endpoint_index.ts";
import { ServiceEntryRegistry } from "../../lib/registry/service_entry/registry.ts";
import { OPTIONS, serviceEntry, workloadEntry } from "../registry/objects.ts";

const SERVICES = 1000;
const PER_SERVICE = 10;
const DRAINS_PER_SECOND = 10;

/** A row of the result. */
export interface RegistryBenchRow {
  readonly form: "sink" | "entries";
  readonly events: number;
  readonly eventsPerSecond: number;
  /** CPU seconds, user and system. */
  readonly cpu: number;
  /** Wall time, seconds. More than requested means that the registry could not keep up. */
  readonly wall: number;
  /** Heap after a second and at the end, bytes. */
  readonly heapStart: number;
  readonly heapEnd: number;
  /** Changed services over all drains. */
  readonly drained: number;
}

/** Runs both forms. */
export async function benchRegistry(rate = 20_000, seconds = 10): Promise<RegistryBenchRow[]> {
  const rows: RegistryBenchRow[] = [];
  for (const form of ["sink", "entries"] as const) rows.push(await run(form, rate, seconds));
  return rows;
}

async function run(form: RegistryBenchRow["form"], rate: number, seconds: number): Promise<RegistryBenchRow> {
  const index = new EndpointIndex();
  const aggregate = new Aggregate(index);
  const { event, flush } = form === "sink" ? bySink(aggregate) : await byEntries(aggregate);
  aggregate.drain();
  index.drain();
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  const batch = rate / DRAINS_PER_SECOND;
  let [events, drained, heapStart] = [0, 0, 0];
  for (let tick = 1; tick <= seconds * DRAINS_PER_SECOND; tick++) {
    for (let i = 0; i < batch; i++) event(events++);
    flush?.();
    drained += index.drain().services.size + aggregate.drain().services.size;
    const rest = start + tick * (1000 / DRAINS_PER_SECOND) - performance.now();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, rest)));
    if (tick === DRAINS_PER_SECOND) heapStart = heap();
  }
  const used = process.cpuUsage(cpu);
  return {
    form,
    events,
    eventsPerSecond: rate,
    cpu: (used.user + used.system) / 1e6,
    wall: (performance.now() - start) / 1000,
    heapStart,
    heapEnd: heap(),
    drained,
  };
}

/** The heap after a collection if V8 offers collections (`--v8-flags=--expose-gc`), else the present heap. */
function heap(): number {
  (globalThis as { gc?: () => void }).gc?.();
  return Deno.memoryUsage().heapUsed;
}

/** Where events go. */
interface Feed {
  event(n: number): void;
  flush?(): void;
}

function bySink(aggregate: Aggregate): Feed {
  const sink = aggregate.sink({ provider: "Orch", clusterId: "c1" });
  const labels = { app: "x", version: "v1" };
  const endpoint = (address: string): Endpoint => ({
    address,
    port: 8080,
    portName: "http",
    labels,
    locality: "r/z/s",
    network: "",
    clusterId: "c1",
    weight: 1,
    health: "healthy",
    serviceAccount: "sa",
    namespace: "ns",
    workloadName: "w",
    tlsMode: "mesh",
  });
  const keys = Array.from({ length: SERVICES }, (_, i): ServiceKey => `ns/s${i}.example.com`);
  const lists = keys.map((_, i) =>
    Array.from({ length: PER_SERVICE }, (_, j) => endpoint(address(i * PER_SERVICE + j)))
  );
  for (const [i, key] of keys.entries()) sink.endpoints(key, "Orch/c1", lists[i]!);
  return {
    event(n) {
      const i = (n * 7919) % SERVICES;
      const list = [...lists[i]!];
      list[n % PER_SERVICE] = endpoint(address(n % 60_000));
      lists[i] = list;
      sink.endpoints(keys[i]!, "Orch/c1", list);
    },
  };
}

async function byEntries(aggregate: Aggregate): Promise<Feed> {
  const registry = new ServiceEntryRegistry(OPTIONS);
  const workload = (i: number, j: number, where: string) =>
    workloadEntry(`w${i}-${j}`, { address: where, labels: { app: `a${i}` } });
  for (let i = 0; i < SERVICES; i++) {
    registry.apply([
      serviceEntry(`s${i}`, { workloadSelector: { labels: { app: `a${i}` } } }),
      ...Array.from({ length: PER_SERVICE }, (_, j) => workload(i, j, address(i * PER_SERVICE + j))),
    ], []);
  }
  await registry.start(aggregate.sink(registry));
  let pending: AnyConfigObject[] = [];
  return {
    event: (n) => void pending.push(workload((n * 7919) % SERVICES, n % PER_SERVICE, address(n % 60_000))),
    flush() {
      registry.apply(pending, []);
      pending = [];
    },
  };
}

function address(n: number): string {
  return `10.${n >> 16 & 255}.${n >> 8 & 255}.${n & 255}`;
}

if (import.meta.main) {
  const [rate, seconds] = Deno.args.map(Number);
  for (const row of await benchRegistry(rate, seconds)) {
    console.log(
      `${row.form}: ${row.eventsPerSecond}/s for ${row.wall.toFixed(1)} s: ${row.cpu.toFixed(2)} CPU s, heap ` +
        `${mb(row.heapStart)} -> ${mb(row.heapEnd)} MB, ${row.drained} changed services drained`,
    );
  }
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
