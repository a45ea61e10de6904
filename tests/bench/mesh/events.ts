/**
 * Endpoint events at a high rate, with proxies that watch.
 *
 * Permissions: run (this runtime, cat), net (loopback).
 *
 * @module
 */
import { startLoad, usage } from "./child.ts";
import type { Shape } from "./configuration.ts";
import type { EventsDone, EventsOptions } from "./events_server.ts";
import { readLines } from "./lines.ts";
import { quantile } from "./result.ts";

/** What was measured. */
export interface EventsMeasured extends EventsDone {
  readonly cpu: number;
  /** Milliseconds from the last event to the last proxy. */
  readonly seenAfter: number;
}

/** Two times 10 seconds of events, the server's memory and CPU, and whether the last one arrives. */
export async function measureEvents({ quick }: { readonly quick: boolean }) {
  const shape: Shape = { services: quick ? 100 : 1000, endpoints: 10, namespaces: 10, routed: 0 };
  const proxies = quick ? 10 : 100;
  const options: EventsOptions = { shape, rate: quick ? 2000 : 20_000, seconds: quick ? 2 : 10 };
  const server = await startEventsServer(options);
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

async function startEventsServer(options: EventsOptions) {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--allow-env",
      "--allow-read",
      "--allow-sys",
      "--allow-net=127.0.0.1",
      "tests/bench/mesh/events_server.ts",
    ],
    cwd: new URL("../../..", import.meta.url).pathname,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  let answer = Promise.withResolvers<string>();
  const reading = readLines(child.stdout, (line) => answer.resolve(line));
  void child.status.then(() => answer.reject(new Error("the server of events ended")));
  const ask = async (line: string) => {
    answer = Promise.withResolvers();
    answer.promise.catch(() => {}); // whoever waits is told; when nobody does, it has been stopped
    await writer.write(new TextEncoder().encode(`${line}\n`));
    return await answer.promise;
  };
  const port = Number(await ask(JSON.stringify(options)));
  return {
    pid: child.pid,
    port,
    ask,
    async stop() {
      await writer.close();
      await reading;
      await child.status;
    },
  };
}
