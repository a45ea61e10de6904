/**
 * Measures the DNS server with dnsperf: names that are known, names that are asked upstream, and nine of the first to
 * one of the second. Server, name server and load run as processes of their own; the robust figure on a busy machine is
 * the server's processor time for an answer.
 *
 *     deno run --allow-net --allow-read --allow-write=/tmp --allow-run --allow-sys=loadavg tests/bench/dns_bench.ts \
 *         [--seconds 10] [--rate 20000] [--only hit,miss,mixed] [--hosts 1000] [--mode tcp] [--target host:port:pid]
 *
 * `--rate` limits the load, to see latency; `--target` measures a server that runs already, by its address and process.
 *
 * Permissions: net, read, write (a temporary folder), run (deno, dnsperf, cat), sys (loadavg).
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
const host = (i: number) => `svc-${i}.ns-${i % 10}.svc.cluster.local`;

function table(): NameTable {
  const names: Record<string, NameTable[string]> = {};
  for (let i = 0; i < hosts; i++) {
    const ips = [`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`];
    names[host(i)] = { ips, registry: "Kubernetes", shortname: `svc-${i}`, namespace: `ns-${i % 10}` };
  }
  return names;
}

/** The server under test; says its port, then its answers are asked for until it is killed. */
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

/** A name server that knows every name: the question comes back with one address. */
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

/** A child that says a port on its first line. */
async function child(args: readonly string[]): Promise<{ port: number; pid: number; process: Deno.ChildProcess }> {
  const process = new Deno.Command(Deno.execPath(), {
    args: [
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

/** Processor seconds that a process has used, and its memory in MB. (By `cat`: /proc itself is for all permissions.) */
function usage(pid: number): { seconds: number; megabytes: number } {
  const { stdout } = new Deno.Command("cat", { args: [`/proc/${pid}/stat`, `/proc/${pid}/status`] }).outputSync();
  const text = new TextDecoder().decode(stdout);
  const stat = text.split(") ")[1]!.split(" ");
  const rss = /VmRSS:\s+(\d+)/.exec(text)?.[1];
  return { seconds: (Number(stat[11]) + Number(stat[12])) / 100, megabytes: Number(rss) / 1024 };
}

async function measure(name: string, questions: string, port: number, pid: number): Promise<void> {
  const rate = option("rate", "");
  const before = usage(pid);
  const args = [
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
    "-l",
    option("seconds", "10"),
  ];
  const { stdout } = await new Deno.Command("dnsperf", {
    args: rate === "" ? args : [...args, "-v", "-Q", rate],
    stderr: "null",
  }).output();
  const text = new TextDecoder().decode(stdout);
  const { seconds, megabytes } = usage(pid);
  const field = (label: string) => Number(new RegExp(`${label}[^:]*:\\s+([\\d.]+)`).exec(text)?.[1] ?? NaN);
  const answers = field("Queries completed");
  const cpu = seconds - before.seconds;
  console.log(
    `${name.padEnd(6)} ${field("Queries per second").toFixed(0)}/s, lost ${field("Queries lost")}, ` +
      `${((cpu / answers) * 1e6).toFixed(1)} us CPU an answer (${(answers / cpu).toFixed(0)} a CPU second), ` +
      `latency mean ${(field("Average Latency") * 1000).toFixed(2)} ms, ${percentiles(text)}, ${
        megabytes.toFixed(0)
      } MB`,
  );
}

/**
 * Percentiles of the answers' times, which dnsperf prints one by one when asked to (only where the rate is limited):
 * of all, and without the first quarter, in which the code is still being compiled.
 */
function percentiles(text: string): string {
  const times = [...text.matchAll(/^> \w+ \S+ \w+ ([\d.]+)$/gm)].map((m) => Number(m[1]) * 1000);
  const max = /max ([\d.]+)\)/.exec(text)?.[1];
  const of = (some: readonly number[]) => {
    const sorted = [...some].sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.floor(sorted.length * share)]?.toFixed(2) ?? "?";
    return `p50 ${at(0.5)} p99 ${at(0.99)}`;
  };
  const warm = times.slice(Math.floor(times.length / 4));
  return `${times.length === 0 ? "" : `${of(times)}, warm ${of(warm)}, `}max ${(Number(max) * 1000).toFixed(1)} ms`;
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
  const server = target.length === 3 ? undefined : await child(["serve", `${dir}/resolv.conf`, String(behind.port)]);
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
else await main();
