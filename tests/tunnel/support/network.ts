/**
 * The network of a node: a bridge in the present network namespace, and pods with namespaces of their own.
 *
 * Permissions: run (ip, nft, nsenter, curl, deno), read (/run/netns).
 *
 * @module
 */
import { must, run } from "../../cni/support/commands.ts";

/** The node's address on the bridge. */
export const NODE_ADDRESS = "10.99.0.1";

const APPLICATION = new URL("application.ts", import.meta.url).pathname;

/** A pod's network. */
export interface PodNetwork {
  readonly name: string;
  readonly address: string;
  /** Path of the namespace. */
  readonly netns: string;
  /** Device and inode of the namespace. */
  readonly identity: string;
}

/** What a client got. */
export interface Got {
  /** 0: the connection was refused or reset. */
  readonly status: number;
  readonly body: string;
}

/** Pods on a bridge. The namespace of the caller ends with everything in it. */
export class PodNetworks implements AsyncDisposable {
  readonly #id = crypto.randomUUID().slice(0, 6);
  readonly #children: Deno.ChildProcess[] = [];
  #last = 1;

  /** Lays the bridge. */
  async lay(): Promise<void> {
    await must("ip", ["link", "add", "br0", "type", "bridge"]);
    await must("ip", ["address", "add", `${NODE_ADDRESS}/24`, "dev", "br0"]);
    await must("ip", ["link", "set", "br0", "up"]);
  }

  /** Makes a pod's namespace, with an address on the bridge. */
  async pod(name: string): Promise<PodNetwork> {
    const [number, space] = [++this.#last, `tun-${this.#id}-${name}`];
    const address = `10.99.0.${number}`;
    await must("ip", ["netns", "add", space]);
    await must("ip", ["link", "add", `v${number}`, "type", "veth", "peer", "name", "eth0", "netns", space]);
    await must("ip", ["link", "set", `v${number}`, "master", "br0", "up"]);
    for (const device of ["lo", "eth0"]) await must("ip", ["-n", space, "link", "set", device, "up"]);
    await must("ip", ["-n", space, "address", "add", `${address}/24`, "dev", "eth0"]);
    await must("ip", ["-n", space, "route", "add", "default", "via", NODE_ADDRESS]);
    const netns = `/run/netns/${space}`;
    const { dev, ino } = Deno.statSync(netns);
    return { name, address, netns, identity: `${dev}:${ino}` };
  }

  /** Counts the TCP packets of a pod from and to its network that belong to no tunnel. */
  async watch({ netns }: PodNetwork): Promise<void> {
    // Two conditions "is not this port" in one rule would be merged into "are not both this port".
    const chain = (hook: string, device: string) =>
      `chain ${hook} { type filter hook ${hook} priority 300;
        tcp dport 15008 accept; tcp sport 15008 accept; ${device} eth0 meta l4proto tcp counter; }`;
    const rules = [chain("postrouting", "oifname"), chain("prerouting", "iifname")];
    await must("nsenter", [`--net=${netns}`, "nft", "-f", "-"], {
      input: `table inet watch {\n${rules.join("\n")}\n}\n`,
    });
  }

  /** The number of packets that {@linkcode PodNetworks.watch} has counted. */
  async plainPackets({ netns }: PodNetwork): Promise<number> {
    const text = await must("nsenter", [`--net=${netns}`, "nft", "list", "table", "inet", "watch"]);
    return [...text.matchAll(/counter packets (\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
  }

  /**
   * Starts the application of `application.ts` in a pod, at port 8080, for the life of the networks. Resolves when
   * the application listens.
   */
  async startApplication({ name, netns }: PodNetwork): Promise<void> {
    const words = [Deno.execPath(), "run", "--quiet", "--allow-net", APPLICATION, "8080"];
    const child = new Deno.Command("nsenter", {
      args: [`--net=${netns}`, ...words],
      ...{ stdin: "null", stdout: "piped", stderr: "inherit" },
    }).spawn();
    this.#children.push(child);
    const { done } = await child.stdout.getReader().read();
    if (done) throw new Error(`the application of ${name} ended at its start`);
  }

  /** A request by a pod's application. */
  async get({ netns }: PodNetwork, url: string): Promise<Got> {
    const words = ["curl", "--silent", "--max-time", "20", "--write-out", "\n%{http_code}", url];
    const { out } = await run("nsenter", [`--net=${netns}`, ...words]);
    const at = out.lastIndexOf("\n");
    return { status: Number(out.slice(at + 1)), body: out.slice(0, at) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) {
      child.kill("SIGKILL");
      await child.status;
    }
  }
}
