/**
 * Endpoint events at a high rate, with watching proxies.
 *
 * Permissions: run (this runtime, cat), net (loopback).
 *
 * @module
 */
import type { Shape } from "./configuration.ts";
import type { EventsDone, EventsOptions } from "./events_server.ts";
import { startLineChild } from "./line_child.ts";
import { startLoad } from "./load_child.ts";
import { quantile } from "./result.ts";
import { THIS_TREE } from "./server_child.ts";
import { usage } from "./usage.ts";

/** The measured quantities. */
export interface EventsMeasured extends EventsDone {
  readonly cpu: number;
  /** Milliseconds from the last event to the last proxy. */
  readonly seenAfter: number;
}

/** Two times 10 seconds of events, with the server's memory and CPU, and the arrival of the last event. */
export async function measureEvents({ quick, tree = THIS_TREE }: { readonly quick: boolean; readonly tree?: string }) {
  const shape: Shape = { services: quick ? 100 : 1000, endpoints: 10, namespaces: 10, routed: 0 };
  const proxies = quick ? 10 : 100;
  const options: EventsOptions = { shape, rate: quick ? 2000 : 20_000, seconds: quick ? 2 : 10 };
  const server = await startEventsServer(options, tree);
  const load = await startLoad({ target: `127.0.0.1:${server.port}`, proxies, delta: true, gzip: true, shape });
  try {
    await load.run({ do: "connect" });
    await load.run({ do: "quiet", ms: 1000 });
    const before = await usage(server.pid);
    const first = JSON.parse(await server.ask("go")) as EventsDone;
    const second = JSON.parse(await server.ask("go")) as EventsDone;
    const marker = "192.168.77.77";
    await load.run({ do: "expect", marker });
    const marked = Number(await server.ask(`mark ${marker}`));
    const { times, errors } = await load.run({ do: "seen" });
    const after = await usage(server.pid);
    if (times.length !== proxies || errors.length > 0) {
      throw new Error(`${times.length} of ${proxies} proxies saw the last event; ${errors.slice(0, 5).join("; ")}`);
    }
    const measured: EventsMeasured = {
      perSecond: Math.min(first.perSecond, second.perSecond),
      late: [...first.late, ...second.late],
      resident: [...first.resident, ...second.resident],
      cpu: after.cpu - before.cpu,
      seenAfter: quantile(times, 1) - marked,
    };
    return { ...options, services: shape.services, proxies, measured };
  } finally {
    await load.stop();
    await server.stop();
  }
}

/** Each tree has a separate events server, because the server is written against the tree's library. */
async function startEventsServer(options: EventsOptions, tree: string) {
  const child = startLineChild([
    "run",
    "--quiet",
    "--no-prompt",
    "--allow-env",
    "--allow-read",
    "--allow-sys",
    "--allow-net=127.0.0.1",
    "tests/bench/mesh/events_server.ts",
  ], { cwd: tree });
  return { ...child, port: Number(await child.ask(JSON.stringify(options))) };
}
