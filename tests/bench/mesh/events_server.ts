/**
 * The discovery server in a separate process, with a single registry that sends endpoint events at a fixed rate.
 *
 * Standard input has a JSON object per line: `{"services","endpoints","rate","seconds"}` to start. Then `go` makes the
 * events and answers with the result, and `mark ADDRESS` gives an endpoint the address.
 *
 * Permissions: net (loopback), env.
 *
 * @module
 */
import { startDiscoveryServer } from "../../../lib/discovery/server.ts";
import { startKernel } from "../../../lib/kernel/kernel.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { defaultSettings } from "../../../lib/kernel/settings/read.ts";
import type { Endpoint, Registry, RegistrySink, ServiceKey } from "../../../lib/registry/types.ts";
import { MockRegistry, plainEndpoint } from "../../../lib/registry/mock.ts";
import { service, type Shape } from "./configuration.ts";
import { readLines } from "./lines.ts";

/** The first line. */
export interface EventsOptions {
  readonly shape: Shape;
  /** Events a second. */
  readonly rate: number;
  readonly seconds: number;
}

/** The answer to `go`. */
export interface EventsDone {
  readonly perSecond: number;
  /** Lateness of each tick, ms. */
  readonly late: readonly number[];
  /** MiB after each second. */
  readonly resident: readonly number[];
}

/** Events come in so many portions a second. */
const TICKS = 100;

/**
 * A registry that knows the changes, like registries that watch an API: the mock registry without its comparison of
 * whole lists.
 */
class Source implements Registry {
  readonly provider = "Mock";
  readonly clusterId = "Mock";
  readonly #mock = new MockRegistry(this.clusterId);
  readonly #keys: ServiceKey[] = [];
  readonly #lists: (readonly Endpoint[])[] = [];
  #sink: RegistrySink | undefined;
  #events = 0;

  constructor(private readonly options: EventsOptions) {
    const { shape } = options;
    for (let i = 0; i < shape.services; i++) {
      const { host: hostname, namespace, endpoint, address, name } = service(shape, i);
      const ports = [{ port: 80, name: "http", protocol: "HTTP" as const, targetPort: 80 }];
      this.#keys.push(this.#mock.addService({ hostname, namespace, ports, addresses: [address] }));
      const place = { clusterId: this.clusterId, namespace, port: 80, portName: "http" };
      this.#lists.push(Array.from({ length: shape.endpoints }, (_, j) => {
        return plainEndpoint({ address: endpoint(j), labels: { app: name, version: `v${1 + j % 2}` }, ...place });
      }));
    }
  }

  async start(sink: RegistrySink): Promise<void> {
    this.#sink = sink;
    await this.#mock.start(sink);
    for (const [i, list] of this.#lists.entries()) sink.endpoints(this.#keys[i]!, this.#mock.shard, list);
  }

  stop(): Promise<void> {
    return this.#mock.stop();
  }

  /** Gives an endpoint of a service an address. */
  set(index: number, number: number, address: string): void {
    const list = this.#lists[index]!.with(number, { ...this.#lists[index]![number]!, address });
    this.#lists[index] = list;
    this.#sink!.endpoints(this.#keys[index]!, this.#mock.shard, list);
  }

  /** An endpoint moves. The endpoints of proxies stay: only the last endpoints of a service move. */
  #event(): void {
    const { shape } = this.options;
    const n = this.#events++;
    const number = 1 + n % (shape.endpoints - 1);
    this.set((n * 7919) % shape.services, number, `10.200.${n >> 8 & 255}.${n & 255}`);
  }

  async go(): Promise<EventsDone> {
    const { rate, seconds } = this.options;
    const late: number[] = [];
    const resident: number[] = [];
    const started = performance.now();
    const before = this.#events;
    for (let tick = 1; tick <= seconds * TICKS; tick++) {
      for (let i = 0; i < rate / TICKS; i++) this.#event();
      if (tick % TICKS === 0) resident.push(Deno.memoryUsage().rss / 2 ** 20);
      const rest = started + tick * 1000 / TICKS - performance.now();
      late.push(Math.max(0, -rest));
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, rest)));
    }
    const perSecond = (this.#events - before) / (performance.now() - started) * 1000;
    return { perSecond, late, resident };
  }
}

async function serve(registry: Registry): Promise<number> {
  const kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
  const { ports } = await startDiscoveryServer(
    {
      grpc: "127.0.0.1:0",
      http: "127.0.0.1:0",
      monitoring: "127.0.0.1:0",
      configDir: undefined,
      meshConfig: "absent",
      networksConfig: "absent",
      domain: "cluster.local",
      clusterId: "Orch",
      clusterAliases: {},
      systemNamespace: "mesh-system",
      registries: [registry],
      keepaliveInterval: 30_000,
      keepaliveTimeout: 10_000,
      keepaliveMaxServerConnectionAge: Infinity,
      shutdownDuration: 1000,
      cores: navigator.hardwareConcurrency,
    },
    defaultSettings("pilot-discovery", { PILOT_MAX_REQUESTS_PER_SECOND: 100_000, PILOT_PUSH_THROTTLE: 100 }),
    kernel,
  );
  return ports.grpc;
}

if (import.meta.main) {
  let source: Source | undefined;
  const answer = (value: unknown) => console.log(JSON.stringify(value));
  await readLines(Deno.stdin.readable, async (line) => {
    if (!source) {
      source = new Source(JSON.parse(line) as EventsOptions);
      answer(await serve(source));
    } else if (line === "go") answer(await source.go());
    else {
      source.set(0, 1, line.slice("mark ".length));
      answer(Date.now());
    }
  });
  Deno.exit(0);
}
