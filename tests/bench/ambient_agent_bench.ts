/**
 * Measures the ambient node agent as images have it, a program of its own, with real network namespaces, the real rules and the real
 * socket process, beside a stand-in for the API and a tunnel that acknowledges at once. As root, on an idle machine:
 *
 *     deno run --unstable-net --allow-net --allow-read --allow-write --allow-run --allow-env \
 *         --allow-sys=uid,hostname tests/bench/ambient_agent_bench.ts [--pods 250] [--starts 100]
 *
 * - `start`: from the plugin's call for a starting pod to the agent's answer: rules, tunnel, exemption of probes.
 * - `brought in`: from the start of the program on a node with running pods to the last pod's annotation.
 * - `reconciled`: the same pods after a restart of the program, until the program is ready. The rules are in place.
 * - `CPU`: of the program with all programs that it ran, a pod's share. `memory`: of the agent, and of its socket process.
 *
 * Everything runs in a network namespace of its own, with namespaces of pods that nobody else sees.
 *
 * Permissions: net, read, write (a temporary folder), run (unshare, ip, nft, nsenter, deno, cat), env, sys.
 *
 * @module
 */
import { bundleProgram, launcherPath } from "../../scripts/bundle.ts";
import { until } from "../patience.ts";
import { ambient, AmbientNode } from "../cni/support/ambient_node.ts";
import { must, obstacle, run } from "../cni/support/commands.ts";
import { FakeOrch } from "../cni/support/orch.ts";
import { Place, PRIMARY } from "../cni/support/place.ts";
import { Tunnels } from "../cni/support/tunnels.ts";

const option = (name: string, otherwise: number) => {
  const at = Deno.args.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(Deno.args[at + 1] ?? otherwise);
};

const PODS = option("pods", 250);
const STARTS = option("starts", 100);

const ROOT = new URL("../../", import.meta.url).pathname;

/** File of the primary network. */
const NETWORK = "10-flannel.conflist";

/** Set in the namespaces of the measurement. */
const INSIDE = "AMBIENT_BENCH_INSIDE";

function print(what: string, figures: Readonly<Record<string, string>>): void {
  const text = Object.entries(figures).map(([name, figure]) => `${name} ${figure}`).join(", ");
  console.log(`${what}: ${text}`);
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;

function quantile(sorted: readonly number[], share: number): string {
  return `${sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(1)} ms`;
}

/** The program at work. */
class AgentProcess {
  readonly #child: Deno.ChildProcess;
  readonly #reading: Promise<void>;
  readonly #network: string;
  #text = "";

  constructor(place: Place, orch: FakeOrch, socket: string) {
    this.#network = `${place.folders.net}/${NETWORK}`;
    const { hostname, port } = new URL(orch.address);
    this.#child = new Deno.Command(`${ROOT}${launcherPath("install-cni")}`, {
      args: ["--ambient-enabled", `--ztunnel-uds-address=${socket}`],
      env: {
        ...{ KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port, ORCH_SERVICE_PROTOCOL: "http" },
        ...{ MESH_CNI_BIN_DIR: place.folders.bin, MOUNTED_CNI_NET_DIR: place.folders.net },
        ...{ CNI_AGENT_RUN_DIR: place.folders.run, MESH_CNI_SERVICE_ACCOUNT_DIR: place.credentials },
        ...{ MESH_CNI_HEALTH_PORT: "0", MONITORING_PORT: "0", NODE_NAME: "node-1", AMBIENT_DNS_CAPTURE: "true" },
        ...{ AMBIENT_IPV6: "true", NO_COLOR: "1" },
      },
      ...{ stdin: "null", stdout: "piped", stderr: "inherit" },
    }).spawn();
    this.#reading = this.#read();
  }

  async #read(): Promise<void> {
    for await (const part of this.#child.stdout.pipeThrough(new TextDecoderStream())) this.#text += part;
  }

  /** Resolves when the plugin is installed, which copies the runtime to a node without it. */
  async installed(): Promise<void> {
    await until("the plugin is installed", async () => await Deno.readTextFile(this.#network) !== PRIMARY);
  }

  /** Resolves when the program takes starting pods. */
  async ready(): Promise<void> {
    const port = () => /serving.*"?health"?[=:](\d+)/.exec(this.#text)?.[1];
    await until("the program serves", () => port() !== undefined);
    const isReady = async () => {
      const answer = await fetch(`http://127.0.0.1:${port()}/readyz`);
      await answer.text();
      return answer.ok;
    };
    await until("the agent is ready", isReady);
  }

  /** CPU time of the program and of all programs that it ran, ms. */
  async cpu(): Promise<number> {
    const stat = await must("cat", [`/proc/${this.#child.pid}/stat`]);
    const ticks = stat.slice(stat.lastIndexOf(")") + 2).split(" ").slice(11, 15).map(Number);
    return 10 * ticks.reduce((sum, one) => sum + one, 0);
  }

  /** Resident memory, MiB. */
  async memory(): Promise<Record<string, string>> {
    const { pid } = this.#child;
    const children = (await must("cat", [`/proc/${pid}/task/${pid}/children`])).trim().split(" ").map(Number);
    const commands = await Promise.all(children.map((child) => run("cat", [`/proc/${child}/cmdline`])));
    const socket = children[commands.findIndex(({ out }) => out.includes("\0zds\0"))];
    return { agent: await resident(pid), socket: socket === undefined ? "none" : await resident(socket) };
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    await Promise.all([this.#child.status, this.#reading]);
  }
}

async function resident(pid: number): Promise<string> {
  const status = await must("cat", [`/proc/${pid}/status`]);
  return `${Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024)} MiB`;
}

/** A node without a program yet, and its API. */
interface BenchNode {
  readonly node: AmbientNode<{ readonly place: Place; readonly orch: FakeOrch }>;
  start(): AgentProcess;
}

async function withBenchNode(work: (bench: BenchNode) => Promise<void>): Promise<void> {
  await using tunnels = new Tunnels();
  using place = new Place();
  const orch = new FakeOrch();
  orch.token = "token-1";
  place.config(NETWORK, PRIMARY);
  orch.label("shop", ambient);
  const socket = `${place.folders.run}/zt.sock`;
  const node = new AmbientNode({ place, orch }, tunnels, socket);
  try {
    await work({ node, start: () => new AgentProcess(place, orch, socket) });
  } finally {
    await node.end();
    await orch.stop();
  }
}

/** Pods that start one by one, as a kubelet starts them. */
async function measureStarts({ node, start }: BenchNode): Promise<void> {
  const agent = start();
  await agent.ready();
  await agent.installed();
  await node.tunnels.connect("t", node.socket);
  await node.tunnels.until("t", "snapshot");
  const took: number[] = [];
  const before = await agent.cpu();
  for (let at = 0; at < STARTS; at++) {
    const { netns, address } = await node.namespace();
    const name = `start-${at}`;
    node.put(name, undefined);
    const began = performance.now();
    await node.started(name, netns, address);
    took.push(performance.now() - began);
  }
  await until("all pods are annotated", () => took.every((_, at) => node.annotation(`start-${at}`) === "enabled"));
  const cpu = `${((await agent.cpu() - before) / STARTS).toFixed(1)} ms`;
  took.sort((a, b) => a - b);
  const figures = { p50: quantile(took, 0.5), p99: quantile(took, 0.99), CPU: cpu };
  print(`start of ${STARTS} pods`, { ...figures, ...await agent.memory() });
  await agent.stop();
}

/** Running pods, an agent that comes to them, and the agent after a restart. */
async function measureNode({ node, start }: BenchNode): Promise<void> {
  const names = Array.from({ length: PODS }, (_, at) => `pod-${at}`);
  for (const name of names) await node.pod(name);
  const measure = async (what: string, done: () => Promise<void>) => {
    const [agent, began] = [start(), performance.now()];
    await agent.ready();
    const ready = performance.now() - began;
    await agent.installed();
    await node.tunnels.connect(what, node.socket);
    await done();
    const [after, cpu] = [performance.now() - began, `${(await agent.cpu() / PODS).toFixed(1)} ms`];
    print(`${PODS} pods ${what}`, { ready: seconds(ready), acknowledged: seconds(after), CPU: cpu });
    print("memory", await agent.memory());
    await agent.stop();
  };
  await measure("brought in", async () => {
    await until("all pods are annotated", () => names.every((name) => node.annotation(name) === "enabled"));
  });
  await measure("reconciled", () => node.tunnels.until("reconciled", "snapshot"));
}

/** The same program again, where nothing of the machine is seen but its files. */
async function inside(): Promise<number> {
  const setup = "mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns && ip link set lo up";
  const words = ["run", "--quiet", "--unstable-net", "--allow-net", "--allow-read", "--allow-write", "--allow-run"];
  const again = [...words, "--allow-env", "--allow-sys=uid,hostname", import.meta.filename!, ...Deno.args];
  const { code } = await new Deno.Command("unshare", {
    args: ["--net", "--mount", "sh", "-c", `${setup} && exec "$@"`, "sh", Deno.execPath(), ...again],
    env: { [INSIDE]: "true" },
  }).spawn().status;
  return code;
}

const missing = obstacle();
if (missing !== undefined) {
  console.error(`not measured: ${missing}`);
  Deno.exit(1);
}
if (Deno.env.get(INSIDE) === undefined) {
  await bundleProgram(ROOT, "install-cni");
  Deno.exit(await inside());
}
await withBenchNode(measureStarts);
await withBenchNode(measureNode);
