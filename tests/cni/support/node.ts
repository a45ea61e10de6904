/** A node in a network namespace, pods in further namespaces, and a runtime that calls plugins like libcni. */
import { choosePrimary, type ConfigFile } from "../../../lib/cni/config/libcni.ts";
import { type NetworkJson } from "../../../lib/cni/config/network.ts";
import { PLUGIN_BUNDLE } from "../../../cmd/install-cni/bundle.ts";
import { currentBundle } from "../../../cmd/program_bundle.ts";
import { type Executable, placeExecutable } from "../../../lib/cni/install/executable.ts";
import { launcherScript } from "../../../lib/cni/install/launcher.ts";
import { systemFileCalls } from "../../../lib/cni/node/file_calls.ts";
import { orchConfigText } from "../../../lib/cni/install/orch_config.ts";
import type { FakeOrch } from "./orch.ts";
import { must, PLUGINS, type Ran, run } from "./commands.ts";

const repository = new URL("../../../", import.meta.url).pathname;
const scripts = `${repository}tests/testdata/cni`;

/** A process that answers on some ports. */
interface Answering {
  readonly child: Deno.ChildProcess;
}

/** An error in the form of plugins. */
export interface PluginFailure {
  code: number;
  msg: string;
  details?: string;
}

/** The outcome of a call of a whole chain. */
export type ChainOutcome = { ok: true; result: NetworkJson | undefined } | {
  ok: false;
  plugin: string;
  error: PluginFailure;
};

/** A pod's sandbox. */
export interface Sandbox {
  readonly id: string;
  readonly netns: string;
  readonly args: string;
}

/** The node. */
export class TestNode implements AsyncDisposable {
  private readonly namespaces: string[] = [];
  private readonly answering: Answering[] = [];

  private constructor(readonly name: string, readonly dir: string) {}

  /** Makes a node with empty folders for configurations and plugins. */
  static async make(): Promise<TestNode> {
    const name = `mcni-${crypto.randomUUID().slice(0, 8)}`;
    const node = new TestNode(name, await Deno.makeTempDir({ prefix: "mcni-" }));
    await must("ip", ["netns", "add", name]);
    node.namespaces.push(name);
    await must("ip", ["-n", name, "link", "set", "lo", "up"]);
    // A gateway's address is usable at once, not after a second of asking around.
    const dad = "echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad";
    await must("nsenter", [`--net=/run/netns/${name}`, "sh", "-c", dad]);
    for (const folder of ["net.d", "bin", "run", "ipam", "sa"]) await Deno.mkdir(`${node.dir}/${folder}`);
    return node;
  }

  get netDir(): string {
    return `${this.dir}/net.d`;
  }
  get binDir(): string {
    return `${this.dir}/bin`;
  }
  get runDir(): string {
    return `${this.dir}/run`;
  }
  get saDir(): string {
    return `${this.dir}/sa`;
  }

  /** The primary network, in the style of a node's administrator. */
  primary(version = "1.0.0", more: NetworkJson = {}): string {
    const ranges = [[{ subnet: "10.77.0.0/16" }], ...(more["ipv6"] === true ? [[{ subnet: "fd77::/64" }]] : [])];
    const bridge = {
      type: "bridge",
      bridge: "cni0",
      isGateway: true,
      ipMasq: false,
      ipam: { type: "host-local", dataDir: `${this.dir}/ipam`, ranges, routes: [{ dst: "0.0.0.0/0" }] },
    };
    const plugins = [bridge, { type: "portmap", capabilities: { portMappings: true } }];
    return JSON.stringify({ cniVersion: version, name: "testnet", plugins }, null, 2) + "\n";
  }

  /** Puts the plugin's launcher and orchestrator config on the node, as the installer does. */
  async placePlugin(
    orch: FakeOrch,
    access: { ca?: string; token?: string; from?: "sources" | "one file" | "placed files" } = {},
  ): Promise<void> {
    const bundle = access.from === "sources" ? undefined : currentBundle(repository, PLUGIN_BUNDLE);
    const executable: Executable = access.from === "placed files"
      ? { runtime: Deno.execPath(), plugin: bundle ?? "(run `deno task setup`)" }
      : { script: launcherScript(Deno.execPath(), repository, bundle) };
    placeExecutable(this.binDir, executable, systemFileCalls, Date.now, "by size");
    const text = orchConfigText({ server: orch.address, ca: access.ca, token: access.token ?? orch.token });
    await Deno.writeTextFile(`${this.runDir}/mesh-cni-orchconfig`, text, { mode: 0o600 });
  }

  /** A new, empty network namespace for a pod. */
  async sandbox(namespace: string, pod: string, uid = ""): Promise<Sandbox> {
    const name = `${this.name}-${crypto.randomUUID().slice(0, 6)}`;
    await must("ip", ["netns", "add", name]);
    this.namespaces.push(name);
    // Runtimes have the plugin `loopback` do this.
    await must("ip", ["-n", name, "link", "set", "lo", "up"]);
    const args = `IgnoreUnknown=1;K8S_POD_NAMESPACE=${namespace};K8S_POD_NAME=${pod};K8S_POD_INFRA_CONTAINER_ID=x` +
      (uid === "" ? "" : `;K8S_POD_UID=${uid}`);
    return { id: crypto.randomUUID(), netns: `/run/netns/${name}`, args };
  }

  /** The configuration that the runtime takes now from the folder. */
  chosen() {
    const files: ConfigFile[] = [...Deno.readDirSync(this.netDir)].map(({ name }) => ({
      name,
      text: Deno.readTextFileSync(`${this.netDir}/${name}`),
    }));
    return choosePrimary(files).primary;
  }

  /** Calls a single plugin: our plugin on the machine's network, others on the node's network. */
  async call(command: string, plugin: NetworkJson, sandbox: Sandbox): Promise<Ran> {
    return await this.callBy([], command, plugin, sandbox);
  }

  /** Calls a plugin by way of another command, which measures. */
  async callBy(by: readonly string[], command: string, plugin: NetworkJson, sandbox: Sandbox): Promise<Ran> {
    const { argv: [program = "", ...args], env, input } = this.callWords(command, plugin, sandbox);
    const [first = "", ...rest] = [...by, program];
    return await run(first, [...rest, ...args], { env, input, clearEnv: true });
  }

  /** A call in words: command line, whole environment, standard input. */
  callWords(command: string, plugin: NetworkJson, sandbox: Sandbox) {
    const type = String(plugin["type"]);
    const env = {
      CNI_COMMAND: command,
      CNI_CONTAINERID: sandbox.id,
      CNI_NETNS: sandbox.netns,
      CNI_IFNAME: "eth0",
      CNI_ARGS: sandbox.args,
      CNI_PATH: `${this.binDir}:${PLUGINS}`,
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      // containerd sets this variable in its own process, and plugins inherit the variable.
      LD_LIBRARY_PATH: "/opt/containerd/lib:",
    };
    const enter = ["nsenter", `--net=/run/netns/${this.name}`, `${PLUGINS}/${type}`];
    return { argv: type === "mesh-cni" ? [`${this.binDir}/mesh-cni`] : enter, env, input: JSON.stringify(plugin) };
  }

  /** Calls the chain of the {@linkcode TestNode.chosen} configuration. */
  async chain(command: "ADD" | "DEL" | "CHECK", sandbox: Sandbox, previous?: NetworkJson): Promise<ChainOutcome> {
    const list = this.chosen();
    if (list === undefined) return { ok: false, plugin: "none", error: { code: 7, msg: "no network configuration" } };
    const plugins = command === "DEL" ? list.plugins.toReversed() : list.plugins;
    let result = previous;
    for (const plugin of plugins) {
      // Debian's plugins lack version 1.1.0. Its results equal the results of 1.0.0.
      const version = plugin["type"] !== "mesh-cni" && list.version === "1.1.0" ? "1.0.0" : list.version;
      const previous = result && { prevResult: { ...result, cniVersion: version } };
      const config = { ...plugin, cniVersion: version, name: list.name, ...previous };
      const ran = await this.call(command, config, sandbox);
      if (ran.code !== 0) return { ok: false, plugin: String(plugin["type"]), error: failureOf(ran) };
      if (command === "ADD") result = JSON.parse(ran.out);
    }
    return { ok: true, result };
  }

  /** Starts a process that answers on ports with a word, as a user, in the node or in a pod. */
  async answer(word: string, ports: number[], netns = `/run/netns/${this.name}`, uid = 0): Promise<void> {
    const child = new Deno.Command("nsenter", {
      args: [`--net=${netns}`, ...asUser(uid), "/usr/bin/python3", `${scripts}/answer.py`, word, ...ports.map(String)],
      stdin: "null",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.answering.push({ child });
    const reader = child.stdout.getReader();
    await reader.read();
    reader.releaseLock();
  }

  /** The server that answers at an address and port, asked by a user in the node or in a pod. */
  async ask(address: string, port: number, netns = `/run/netns/${this.name}`, uid = 0): Promise<string> {
    const args = [`--net=${netns}`, ...asUser(uid), "/usr/bin/python3", `${scripts}/ask.py`, address, String(port)];
    return (await must("nsenter", args)).trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child } of this.answering) {
      child.kill("SIGKILL");
      await child.stdout.cancel();
      await child.status;
    }
    for (const name of this.namespaces) await run("ip", ["netns", "del", name]);
    await Deno.remove(this.dir, { recursive: true });
  }
}

function asUser(uid: number): string[] {
  return uid === 0 ? [] : ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
}

/** The error object written by a plugin. */
export function failureOf(ran: Ran): PluginFailure {
  try {
    return JSON.parse(ran.out);
  } catch {
    return { code: -1, msg: `no error object: ${ran.out}${ran.err}` };
  }
}

/** First address of a result, without its prefix. */
export function addressOf(result: NetworkJson | undefined, family: 4 | 6 = 4): string {
  const ips = (result?.["ips"] ?? []) as { address: string }[];
  return ips.map(({ address }) => address.split("/")[0] ?? "").find((a) => a.includes(":") === (family === 6)) ?? "";
}
