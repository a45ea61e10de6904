/**
 * Programs that a benchmark starts: the server, the load generator, and what they use of the machine.
 *
 * Permissions: run (this runtime, cat), net (loopback).
 *
 * @module
 */
import { programArgs } from "../../../scripts/program_args.ts";
import { freePorts } from "../../../scripts/demo/ports.ts";
import { readLines } from "./lines.ts";
import type { LoadAnswer, LoadCommand, LoadOptions } from "./load/protocol.ts";

const root = new URL("../../..", import.meta.url).pathname;

/** What a process has used, and holds. */
export interface Usage {
  /** CPU seconds of all its threads since its start, in user and system mode. The kernel counts in 10 ms. */
  readonly cpu: number;
  /** Resident memory now and at its peak, MiB. */
  readonly resident: number;
  readonly peak: number;
}

/** What a process has used so far, as `/proc` tells it. */
export async function usage(pid: number): Promise<Usage> {
  // The runtime lets a program read /proc only with every permission there is; `cat` may.
  const { stdout } = await new Deno.Command("cat", { args: [`/proc/${pid}/stat`, `/proc/${pid}/status`] }).output();
  return parseUsage(new TextDecoder().decode(stdout));
}

/** Clock ticks a second in `/proc/PID/stat` (`getconf CLK_TCK`; fixed on Linux). */
const TICKS = 100;

/** Reads the concatenation of `/proc/PID/stat` and `/proc/PID/status`. */
export function parseUsage(text: string): Usage {
  // The name of the program, in parentheses, may hold spaces and parentheses; fields are counted after it.
  const stat = text.slice(0, text.indexOf("\n"));
  const fields = stat.slice(stat.lastIndexOf(") ") + 2).split(" ");
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1]);
  const used = {
    cpu: (Number(fields[11]) + Number(fields[12])) / TICKS,
    resident: kilobytes("VmRSS") / 1024,
    peak: kilobytes("VmHWM") / 1024,
  };
  for (const [name, value] of Object.entries(used)) {
    if (!Number.isFinite(value)) throw new Error(`/proc/PID/stat and status: no ${name} in ${JSON.stringify(text)}`);
  }
  return used;
}

/** A running server. */
export interface ServerChild {
  readonly pid: number;
  /** `host:port` of discovery. */
  readonly target: string;
  /** Resolves when it has used next to no CPU for a while. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts `pilot-discovery` on a folder; resolves when it is ready. With `profile`, it writes a CPU profile there. */
export async function startServer(folder: string, profile?: string): Promise<ServerChild> {
  const [grpc, http, monitoring] = freePorts(3);
  const [run, ...rest] = programArgs("pilot-discovery");
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      run!,
      ...profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`],
      ...rest,
      "discovery",
      "--registries=Mock",
      `--configDir=${folder}`,
      `--grpcAddr=127.0.0.1:${grpc}`,
      `--httpAddr=127.0.0.1:${http}`,
      `--monitoringAddr=127.0.0.1:${monitoring}`,
      "--ctrlz_port=0",
      "--log_output_level=all:error",
    ],
    cwd: root,
    // Admission and throttling are there to slow storms down; here the storm is what is measured.
    env: { PILOT_MAX_REQUESTS_PER_SECOND: "100000", PILOT_PUSH_THROTTLE: "100" },
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
  let ended = false;
  void child.status.then(() => ended = true);
  const interrupted = () => {
    child.kill("SIGTERM");
    Deno.exit(130);
  };
  Deno.addSignalListener("SIGTERM", interrupted);
  Deno.addSignalListener("SIGINT", interrupted);
  while (!await ready(`http://127.0.0.1:${http}/ready`)) {
    if (ended) throw new Error("the server ended before it was ready");
    await delay(50);
  }
  return {
    pid: child.pid,
    target: `127.0.0.1:${grpc}`,
    // A profiler keeps the process busy all the time.
    idle: () => profile === undefined ? untilIdle(child.pid) : delay(2000),
    async stop() {
      Deno.removeSignalListener("SIGTERM", interrupted);
      Deno.removeSignalListener("SIGINT", interrupted);
      if (!ended) child.kill("SIGTERM");
      await child.status;
    },
  };
}

async function ready(url: string): Promise<boolean> {
  try {
    const response = await fetch(url);
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

/** Idle: 10 ms of CPU or less in half a second, twice in turn. */
export async function untilIdle(pid: number): Promise<void> {
  let { cpu } = await usage(pid);
  for (let calm = 0; calm < 2;) {
    await delay(500);
    const now = (await usage(pid)).cpu;
    calm = now - cpu <= 0.011 ? calm + 1 : 0;
    cpu = now;
  }
}

/** A running load generator. */
export interface LoadChild {
  run(command: LoadCommand): Promise<LoadAnswer>;
  stop(): Promise<void>;
}

/** Starts the load generator. */
export async function startLoad(options: LoadOptions): Promise<LoadChild> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--allow-env",
      "--allow-net=127.0.0.1",
      "tests/bench/mesh/load/main.ts",
    ],
    cwd: root,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  const send = (value: unknown) => writer.write(new TextEncoder().encode(`${JSON.stringify(value)}\n`));
  let answer = Promise.withResolvers<LoadAnswer>();
  const reading = readLines(child.stdout, (line) => answer.resolve(JSON.parse(line) as LoadAnswer));
  void child.status.then(() => answer.reject(new Error("the load generator ended")));
  answer.promise.catch(() => {});
  await send(options);
  return {
    async run(command) {
      answer = Promise.withResolvers();
      await send(command);
      return await answer.promise;
    },
    async stop() {
      await writer.close();
      await reading;
      await child.status;
      answer.promise.catch(() => {});
    },
  };
}

/** Waits. */
export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
