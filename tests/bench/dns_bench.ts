/**
 * Measures the DNS server with dnsperf: known names, names asked upstream, and a mix of nine known names to one
 * upstream name. Server, name server and load are separate processes. The robust figure on a busy machine is the
 * server's processor time per answer.
 *
 *     deno run --allow-net --allow-read --allow-write=/tmp --allow-run --allow-sys=loadavg tests/bench/dns_bench.ts \
 *         [--seconds 10] [--rate 20000] [--only hit,miss,mixed] [--hosts 1000] [--mode tcp] [--target host:port:pid] \
 *         [--real-time] [--floor]
 *
 * `--rate` limits the load, to see latency. `--target` measures a running server, by address and process. `--floor`
 * measures a process that echoes every packet by the same operations of the runtime, instead of the server.
 * `--real-time` (root) gives server and load priority over everything else, so latency is independent of the scheduler:
 * on two cores the load generator alone takes half of the machine.
 *
 * Permissions: net, read, write (a temporary folder), run (deno, dnsperf, sh, cat, chrt), sys (loadavg).
 *
 * @module
 */
import { startDnsServer } from "../../lib/dns/server.ts";
import { createLog, defaultLogOptions } from "../../lib/kernel/log/log.ts";
import { createMetrics } from "../../lib/kernel/metrics/registry.ts";
import type { NameTable } from "../../lib/dns/table/types.ts";

const option = (name: string, otherwise: string) => {
  const at = Deno.args.indexOf(`--${name}`);
  return at < 0 ? otherwise : Deno.args[at + 1] ?? otherwise;
};

const hosts = Number(option("hosts", "1000"));
/** Prefix of a command for a priority above all normal processes. */
const realTime = (priority: string) => Deno.args.includes("--real-time") ? ["chrt", "-f", priority] : [];
const host = (i: number) => `svc-${i}.ns-${i % 10}.svc.cluster.local`;

function table(): NameTable {
  const names: Record<string, NameTable[string]> = {};
  for (let i = 0; i < hosts; i++) {
    const ips = [`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`];
    names[host(i)] = { ips, registry: "Kubernetes", shortname: `svc-${i}`, namespace: `ns-${i % 10}` };
  }
  return names;
}

/** The server under test. Prints its port, then answers until killed. */
async function serve(): Promise<void> {
  const server = await startDnsServer({
    settings: { DNS_PROXY_ADDR: "localhost:0", DNS_FORWARD_PARALLEL: false },
    namespace: "ns-1",
    domain: "ns-1.svc.cluster.local",
    root: false,
    log: createLog([], { ...defaultLogOptions, targets: ["stderr"] }).scope("dns"),
    metrics: createMetrics("pilot-agent"),
    resolvConf: Deno.args[1]!,
    upstreamPort: Number(Deno.args[2]),
  });
  const began = performance.now();
  const { names } = server.update(table());
  console.log(server.listening[0]!.address.port);
  console.error(`table of ${names} names built in ${(performance.now() - began).toFixed(1)} ms`);
}

/** The lower bound of a server's cost: every packet is returned unchanged, marked as an answer. */
function floor(): void {
  const conn = Deno.listenDatagram({ transport: "udp", hostname: "127.0.0.1", port: 0 });
  console.log((conn.addr as Deno.NetAddr).port);
  const loop = async () => {
    const buffer = new Uint8Array(4096);
    for (;;) {
      const [packet, from] = await conn.receive(buffer);
      buffer[2] = 0x85;
      await conn.send(packet, from);
    }
  };
  for (let i = 0; i < 4; i++) void loop();
}

/** A name server that knows every name: returns the question with one address. */
function upstream(): void {
  const conn = Deno.listenDatagram({ transport: "udp", hostname: "127.0.0.1", port: 0 });
  console.log((conn.addr as Deno.NetAddr).port);
  const record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 30, 0, 4, 192, 0, 2, 1];
  const loop = async () => {
    const buffer = new Uint8Array(4096);
    for (;;) {
      const [query, from] = await conn.receive(buffer);
      buffer[2] = 0x85;
      buffer[3] = 0x80;
      buffer[7] = 1;
      buffer[11] = 0;
      buffer.set(record, query.length);
      await conn.send(buffer.subarray(0, query.length + record.length), from);
    }
  };
  for (let i = 0; i < 4; i++) void loop();
}

/** A child that prints its port on the first line. */
async function child(args: readonly string[]): Promise<{ port: number; pid: number; process: Deno.ChildProcess }> {
  const [command, ...before] = [...realTime("2"), Deno.execPath()];
  const process = new Deno.Command(command!, {
    args: [
      ...before,
      "run",
      "--quiet",
      "--allow-net",
      "--allow-read",
      "--allow-env",
      "--allow-sys",
      import.meta.filename!,
      ...args,
      "--hosts",
      String(hosts),
    ],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = process.stdout.getReader();
  const { value } = await reader.read();
  return { port: Number(new TextDecoder().decode(value)), pid: process.pid, process };
}

/** Processor seconds of a process and of the machine, time stolen by the host, and memory of the process in MB. */
interface Usage {
  readonly seconds: number;
  readonly machine: number;
  readonly stolen: number;
  readonly megabytes: number;
}

/** Uses `cat`, because reading /proc itself needs all permissions. */
function usage(pid: number): Usage {
  const files = [`/proc/${pid}/stat`, `/proc/${pid}/status`, "/proc/stat"];
  const { stdout } = new Deno.Command("cat", { args: files }).outputSync();
  const text = new TextDecoder().decode(stdout);
  const stat = text.split(") ")[1]!.split(" ");
  const rss = /VmRSS:\s+(\d+)/.exec(text)?.[1];
  const [user, nice, system, , , irq, softirq, stolen] = /^cpu +(.*)$/m.exec(text)![1]!.split(" ").map(Number);
  return {
    seconds: (Number(stat[11]) + Number(stat[12])) / 100,
    machine: (user! + nice! + system! + irq! + softirq!) / 100,
    stolen: stolen! / 100,
    megabytes: Number(rss) / 1024,
  };
}

async function measure(name: string, questions: string, port: number, pid: number): Promise<void> {
  const rate = option("rate", "");
  const seconds = option("seconds", "10");
  const args = [
    "dnsperf",
    "-m",
    option("mode", "udp"),
    "-s",
    "127.0.0.1",
    "-p",
    String(port),
    "-d",
    questions,
    "-c",
    "4",
    "-q",
    "100",
  ];
  // Runs until the code is compiled. The measurement follows.
  await load([...args, "-l", "1"], `${questions}.said`);
  const before = usage(pid);
  const text = await load([...args, "-l", seconds, ...rate === "" ? [] : ["-v", "-Q", rate]], `${questions}.said`);
  const after = usage(pid);
  const field = (label: string) => Number(new RegExp(`${label}[^:]*:\\s+([\\d.]+)`).exec(text)?.[1] ?? NaN);
  const answers = field("Queries completed");
  const cpu = after.seconds - before.seconds;
  const busy = ((after.machine - before.machine) / Number(seconds)) * 100;
  console.log(
    `${name.padEnd(6)} ${field("Queries per second").toFixed(0)}/s, lost ${field("Queries lost")}, ` +
      `${((cpu / answers) * 1e6).toFixed(1)} us CPU an answer (${(answers / cpu).toFixed(0)} a CPU second), ` +
      `latency mean ${(field("Average Latency") * 1000).toFixed(2)} ms, ${percentiles(text)}, ` +
      `${after.megabytes.toFixed(0)} MB, machine ${busy.toFixed(0)} % busy, ` +
      `${((after.stolen - before.stolen) * 1000).toFixed(0)} ms taken by the host`,
  );
}

/**
 * Runs dnsperf. Returns its output by way of a file: a process that reads a line per answer would compete for the cores
 * with the measured processes, and caused most of the latency.
 */
async function load(args: readonly string[], file: string): Promise<string> {
  const command = [...realTime("1"), ...args];
  await new Deno.Command("sh", { args: ["-c", 'exec "$@" > "$0" 2> /dev/null', file, ...command] }).output();
  return await Deno.readTextFile(file);
}

/** Percentiles of the answers' times, which dnsperf prints one by one on request (only with a limited rate). */
function percentiles(text: string): string {
  const times = [...text.matchAll(/^> \w+ \S+ \w+ ([\d.]+)$/gm)].map((m) => Number(m[1]) * 1000);
  const max = /max ([\d.]+)\)/.exec(text)?.[1];
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)]?.toFixed(2) ?? "?";
  return `${times.length === 0 ? "" : `p50 ${at(0.5)} p99 ${at(0.99)} ms, `}max ${(Number(max) * 1000).toFixed(1)} ms`;
}

async function main(): Promise<void> {
  const dir = await Deno.makeTempDir();
  const known = Array.from({ length: 1000 }, (_, i) => `${host(i % hosts)} A`);
  const unknown = Array.from({ length: 1000 }, (_, i) => `www-${i}.example.org A`);
  const mixed = Array.from({ length: 1000 }, (_, i) => i % 10 === 9 ? unknown[i]! : known[i]!);
  const files = { hit: known, miss: unknown, mixed };
  for (const [name, lines] of Object.entries(files)) {
    await Deno.writeTextFile(`${dir}/${name}`, lines.join("\n") + "\n");
  }
  await Deno.writeTextFile(`${dir}/resolv.conf`, "nameserver 127.0.0.1\nsearch ns-1.svc.cluster.local\n");
  const target = option("target", "").split(":");
  const behind = await child(["upstream"]);
  const measured = Deno.args.includes("--floor") ? ["floor"] : ["serve", `${dir}/resolv.conf`, String(behind.port)];
  const server = target.length === 3 ? undefined : await child(measured);
  console.log(`load average ${Deno.loadavg().map((n) => n.toFixed(1)).join(" ")}`);
  for (const name of Object.keys(files)) {
    if (!option("only", name).split(",").includes(name)) continue;
    await measure(name, `${dir}/${name}`, server?.port ?? Number(target[1]), server?.pid ?? Number(target[2]));
  }
  for (const one of [behind, server]) one?.process.kill();
  await Deno.remove(dir, { recursive: true });
  Deno.exit(0);
}

if (Deno.args[0] === "serve") await serve();
else if (Deno.args[0] === "upstream") upstream();
else if (Deno.args[0] === "floor") floor();
else await main();
