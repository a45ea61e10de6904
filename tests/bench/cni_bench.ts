/**
 * Measures calls of the network plugin as a runtime makes calls: one after the other, each for a new pod in a new
 * network namespace behind Debian's bridge plugin, with the installer's files on the node. As root, on an idle machine:
 *
 *     deno run --allow-net --allow-read --allow-write=/tmp --allow-run --allow-env \
 *         --allow-sys=loadavg,uid,hostname tests/bench/cni_bench.ts [--calls 30] [--only near,tls] [--launcher FILE]
 *
 * `hello` is the runtime alone; `near`: a node agent is running, as on every node after its start; `tls`: the plugin
 * itself asks the orchestrator; `again`: ADD for a pod with existing rules; `check`, `del`, `status`, `version`: the
 * other commands; `pass`: a pod outside the mesh. Wall and processor time in ms, including children. Memory is the peak
 * of the largest process. `--launcher` replaces the installer's executable on the node.
 *
 * If a node agent asks the orchestrator, some calls take 40 ms more. The substitute for the orchestrator is a server of
 * `Deno.serve`: over TLS, on a kept connection, an answer takes 44 ms, compared with 0.4 ms for `node:https`.
 *
 * Permissions: net, read, write (a temporary folder), run (ip, nsenter, the plugins, python3), env, sys.
 *
 * @module
 */
import { servePlugin } from "../../lib/cni/serve/servers.ts";
import { readOrchConfig } from "../../lib/cni/install/orch_config.ts";
import { LOG_SOCKET } from "../../lib/cni/plugin/report.ts";
import { RestPods } from "../../lib/cni/pods/rest.ts";
import { silentLog } from "../../lib/kernel/log/log.ts";
import { chainedText } from "../cni/support/chained.ts";
import { obstacle } from "../cni/support/commands.ts";
import { type Sandbox, TestNode } from "../cni/support/node.ts";
import { FakeOrch, injectedPod } from "../cni/support/orch.ts";
import { Authority } from "../certificates.ts";

const option = (name: string, otherwise: string) => {
  const at = Deno.args.indexOf(`--${name}`);
  return at < 0 ? otherwise : Deno.args[at + 1] ?? otherwise;
};

/** The cost of a command. */
interface Cost {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly wall: number;
  readonly cpu: number;
  readonly peak: number;
}

/** Runs commands one by one, in a small process that measures their cost. */
class Stopwatch implements AsyncDisposable {
  private readonly child = new Deno.Command("python3", {
    args: [new URL("../testdata/cni/timed.py", import.meta.url).pathname],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  private readonly writer = this.child.stdin.getWriter();
  private readonly reader = this.child.stdout.pipeThrough(new TextDecoderStream()).getReader();

  async run(asked: { argv: readonly string[]; env: object; input: string }): Promise<Cost> {
    await this.writer.write(new TextEncoder().encode(JSON.stringify(asked) + "\n"));
    let text = "";
    while (!text.endsWith("\n")) {
      const { value, done } = await this.reader.read();
      if (done) throw new Error("the stopwatch ended");
      text += value;
    }
    const cost: Cost = JSON.parse(text);
    if (cost.code !== 0) throw new Error(`${asked.argv.join(" ")}: ${cost.code}: ${cost.out}${cost.err}`);
    return cost;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.writer.close();
    await this.child.status;
  }
}

/** A node with a pod for each call. */
class Stage {
  private count = 0;
  constructor(readonly node: TestNode, readonly orch: FakeOrch, readonly watch: Stopwatch) {}

  /** A new pod in its network, with the plugin's configuration for the pod. */
  async pod(injected = true): Promise<{ plugin: Record<string, unknown>; sandbox: Sandbox }> {
    const name = `p-${this.count++}`;
    const base = injectedPod("cost", name);
    if (!injected) base.metadata.annotations = {};
    const pod = this.orch.put(base);
    const sandbox = await this.node.sandbox("cost", name, pod.metadata.uid);
    const [bridge = {}, , ours = {}] = this.node.chosen()?.plugins ?? [];
    const common = { cniVersion: "1.0.0", name: "testnet" };
    const prevResult = JSON.parse((await this.node.call("ADD", { ...bridge, ...common }, sandbox)).out);
    return { plugin: { ...ours, ...common, prevResult }, sandbox };
  }

  /** The cost of calls for new pods. `before` is called first and not counted. */
  async calls(count: number, command: string, more: { injected?: boolean; before?: string } = {}): Promise<Cost[]> {
    const costs: Cost[] = [];
    for (let i = 0; i < count; i++) {
      const { plugin, sandbox } = await this.pod(more.injected ?? true);
      if (more.before !== undefined) await this.watch.run(this.node.callWords(more.before, plugin, sandbox));
      costs.push(await this.watch.run(this.node.callWords(command, plugin, sandbox)));
    }
    return costs;
  }
}

const scenarios: Record<string, (stage: Stage, count: number) => Promise<Cost[]>> = {
  async hello({ watch, node }, count) {
    const file = `${node.dir}/hello.js`;
    await Deno.writeTextFile(file, `console.log("hello");\n`);
    const argv = [Deno.execPath(), "run", "--quiet", "--no-config", "--no-prompt", file];
    const env = { HOME: Deno.env.get("HOME") ?? "", DENO_DIR: `${node.dir}/cache` };
    const costs: Cost[] = [];
    for (let i = 0; i <= count; i++) costs.push(await watch.run({ argv, env, input: "" }));
    return costs.slice(1);
  },
  async near(stage, count) {
    return await withAgent(stage, () => stage.calls(count, "ADD"));
  },
  async again(stage, count) {
    return await withAgent(stage, () => stage.calls(count, "ADD", { before: "ADD" }));
  },
  async check(stage, count) {
    return await withAgent(stage, () => stage.calls(count, "CHECK", { before: "ADD" }));
  },
  async pass(stage, count) {
    return await withAgent(stage, () => stage.calls(count, "ADD", { injected: false }));
  },
  tls: (stage, count) => stage.calls(count, "ADD"),
  del: (stage, count) => stage.calls(count, "DEL", { before: "ADD" }),
  status: (stage, count) => stage.calls(count, "STATUS"),
  version: (stage, count) => stage.calls(count, "VERSION"),
};

/** Runs work while a node agent serves its socket. */
async function withAgent<T>({ node }: Stage, work: () => Promise<T>): Promise<T> {
  const access = () => readOrchConfig(Deno.readTextFileSync(`${node.runDir}/mesh-cni-orchconfig`));
  const socket = await servePlugin(
    `${node.runDir}/${LOG_SOCKET}`,
    silentLog().scope("cni-plugin"),
    new RestPods(access),
  );
  try {
    return await work();
  } finally {
    await socket.close();
  }
}

function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? NaN;
}

async function main(): Promise<void> {
  const why = obstacle();
  if (why !== undefined) throw new Error(`cannot be measured here: ${why}`);
  const count = Number(option("calls", "30"));
  const only = option("only", Object.keys(scenarios).join(",")).split(",");
  const authority = await Authority.make("orchestrator");
  const { certificate: cert, key } = await authority.sign("api", 2, [["IP", "127.0.0.1"]]);
  await using node = await TestNode.make();
  await using watch = new Stopwatch();
  const orch = new FakeOrch({ cert, key });
  try {
    await Deno.writeTextFile(`${node.netDir}/10-test.conflist`, chainedText(node));
    await node.placePlugin(orch, { ca: authority.certificate });
    const launcher = option("launcher", "");
    if (launcher !== "") await Deno.copyFile(launcher, `${node.binDir}/mesh-cni`);
    const stage = new Stage(node, orch, watch);
    // One-time work of a node's first call, and filling the caches of runtime and kernel, is not measured.
    await stage.calls(2, "ADD");
    const rows: Record<string, object> = {};
    for (const name of only) {
      const costs = await scenarios[name]!(stage, count);
      const wall = costs.map((cost) => cost.wall);
      const cpu = costs.map((cost) => cost.cpu);
      const round = (value: number) => Math.round(value * 10) / 10;
      rows[name] = {
        "wall p50": round(quantile(wall, 0.5)),
        "wall p90": round(quantile(wall, 0.9)),
        "wall max": round(Math.max(...wall)),
        "cpu p50": round(quantile(cpu, 0.5)),
        "peak MB": round(Math.max(...costs.map((cost) => cost.peak)) / 1024),
      };
    }
    console.table(rows);
    console.log(`${count} calls each; load ${Deno.loadavg().map((v) => v.toFixed(2)).join(" ")}`);
  } finally {
    await Promise.all([orch.stop(), authority.remove()]);
  }
}

await main();
